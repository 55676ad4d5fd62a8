// Where this console looks: at its own machine, or at a team, through one of the team's nodes or by its database. Only the
// desktop can look elsewhere; a page in a browser looks at the node that served it, and knows no other.
import {
  notifyManager,
  type QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { command, inDesktop } from "./door";
import { reconnect } from "./live";
import type { Fault, PlacesView, PutTeam, TeamNodeTried, TeamView } from "./types";

const KEY = ["places"];
const HERE: PlacesView = { current: null, node: null, reads_database: null, keeper: "file", rows: [] };

/** Which node a team is reached by may change at any moment while it is away. */
const ASK_AGAIN_MS = 2_000;

export const placesQuery = () =>
  queryOptions({
    queryKey: KEY,
    queryFn: () => (inDesktop ? command<PlacesView>("places") : HERE),
    refetchInterval: ({ state }) => (state.data?.current ? ASK_AGAIN_MS : false),
    staleTime: ASK_AGAIN_MS,
  });

interface Looked {
  /** None: this machine. */
  team: TeamView | null;
  /** The node that it is reached by. */
  node: string | null;
  /** Why its database is read instead. */
  reads: Fault | null;
}

/** Where this window looks, and how. */
export function useTeam(): Looked {
  const { data } = useQuery(placesQuery());
  return {
    team: data?.rows.find((row) => row.id === data.current) ?? null,
    node: data?.node ?? null,
    reads: data?.reads_database ?? null,
  };
}

/** Whether what is asked goes to a team, whose settings are not one's own. */
export const looksAtTeam = (client: QueryClient) => Boolean(client.getQueryData<PlacesView>(KEY)?.current);

/** What was known of the place before is forgotten with the step itself: nothing of it may be taken for the other's. */
function moveTo(client: QueryClient, id: string | null) {
  notifyManager.batch(() => {
    client.setQueryData<PlacesView>(KEY, (before) => ({
      ...(before ?? HERE),
      current: id,
      node: null,
      reads_database: null,
    }));
    void client.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
  });
  reconnect();
  void client.invalidateQueries({ queryKey: KEY });
}

/** Goes to a team, or to this machine. */
export function useLookAt() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string | null) => command<void>("look_at", { id }),
    onSuccess: (_, id) => moveTo(client, id),
  });
}

/** Said beside the fields. */
export function usePutTeam() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (team: PutTeam) => command<string>("put_team", { team }),
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
    meta: { quiet: true },
  });
}

/** Said beside what was tested. */
export const useTestTeam = () =>
  useMutation({
    mutationFn: (team: PutTeam) => command<TeamNodeTried[]>("test_team", { team }),
    meta: { quiet: true },
  });

export function useRemoveTeam() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => command<void>("remove_team", { id }),
    onSuccess: (_, id) => {
      if (client.getQueryData<PlacesView>(KEY)?.current === id) moveTo(client, null);
    },
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  });
}
