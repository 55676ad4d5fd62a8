// The route everything hangs on. Views make theirs with `createRoute({ getParentRoute: () => rootRoute, … })`, and take
// one line in `router.tsx`; those that stand in the rail take one in `rail.ts`.
import { createRootRoute } from "@tanstack/react-router";
import { NotHere } from "./NotHere";
import { Shell } from "./Shell";

export const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotHere });
