// One cache of answers for the whole window. What is in it is asked again when the feed says so, not by a timer; a
// question that met silence is tried again, one that was refused is not. A failed change says so in a toast, in the
// words the node gave, unless its `meta.quiet` says that the view shows it itself (beside a field).
import { MutationCache, QueryClient } from "@tanstack/react-query";
import { getLang } from "@/lib/words";
import { toast } from "@/primitives/Toast";
import { Refusal, Silence } from "./door";

declare module "@tanstack/react-query" {
  interface Register {
    mutationMeta: { quiet?: boolean };
    /** Topics of the feed that make the answer stale, besides the one its key begins with. */
    queryMeta: {
      topics?: readonly string[] /** Not asked again sooner than this after its last answer. */;
      paceMs?: number;
    };
  }
}

export function sayRefusal(error: unknown) {
  const lang = getLang();
  if (error instanceof Refusal) {
    toast({ tone: "bad", text: error.said[lang], detail: error.hint?.[lang], code: error.code || undefined });
  } else {
    toast({ tone: "bad", text: error instanceof Error ? error.message : String(error) });
  }
}

export function newClient(): QueryClient {
  return new QueryClient({
    mutationCache: new MutationCache({
      onError: (error, _variables, _context, mutation) => {
        if (!mutation.meta?.quiet) sayRefusal(error);
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 60_000,
        gcTime: 300_000,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: "always",
        retry: (count, error) => error instanceof Silence && count < 3,
        retryDelay: (attempt) => Math.min(4_000, 400 * 2 ** attempt),
      },
      mutations: { networkMode: "always" },
    },
  });
}
