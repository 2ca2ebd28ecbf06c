import type {
  Grant,
  GrantTerms,
  ListGrantsResult,
  PreviewGrantResult,
  ToolRule,
} from "@assent/protocol";
import type { Client } from "../link/client.ts";
import { createReader, notRead, type Resource } from "./resource.ts";
import { type Change, set } from "./state.ts";
import type { Store } from "./store.ts";

export interface GrantsState {
  readonly grants: Grants;
  readonly toolRules: ToolRules;
}

/** Every grant that the person made. */
export interface Grants extends Resource {
  /** The newest first; absent until they were listed. */
  readonly entries: readonly Grant[] | undefined;
  /** The changes during a reading, which are newer than the list; absent while nothing is read. */
  readonly news: readonly Grant[] | undefined;
}

/** The answers about tools that are remembered. No event tells of them: they are as they were when last read. */
export interface ToolRules extends Resource {
  /** The newest first; absent until they were listed. */
  readonly entries: readonly ToolRule[] | undefined;
}

export const noGrants: Grants = { ...notRead, entries: undefined, news: undefined };

export const initialGrants: GrantsState = {
  grants: noGrants,
  toolRules: { ...notRead, entries: undefined },
};

/** Takes in a grant that was made, used or ended. */
export function takeGrant(known: Grants, grant: Grant): Grants {
  return {
    ...known,
    entries: withGrant(known.entries ?? [], grant),
    news: known.news && [...known.news, grant],
  };
}

/** Takes in the list, and what changed while it was read. */
export function takeGrants(known: Grants, listed: readonly Grant[]): Grants {
  return { ...known, entries: (known.news ?? []).reduce(withGrant, listed), news: undefined };
}

function withGrant(grants: readonly Grant[], grant: Grant): readonly Grant[] {
  const index = grants.findIndex(({ id }) => id === grant.id);
  return index < 0 ? [grant, ...grants] : grants.with(index, grant);
}

function grantChanged(grant: Grant): Change {
  return (state) => ({ ...state, grants: takeGrant(state.grants, grant) });
}

export type GrantsActions = ReturnType<typeof createGrants>["actions"];

export function createGrants(store: Store) {
  const { request } = store;
  const grants = createReader<Grants, ListGrantsResult>(store, {
    get: (state) => state.grants,
    put: (known) => set({ grants: known }),
    read: () => request("grant/list"),
    take: (known, { grants: listed = [] }) => takeGrants(known, listed),
    start: { news: [], failure: undefined },
    fail: { news: undefined },
  });
  const rules = createReader(store, {
    get: (state) => state.toolRules,
    put: (toolRules) => set({ toolRules }),
    read: () => request("toolRule/list"),
    take: (known, { rules: entries = [] }) => ({ ...known, entries }),
  });
  const listGrants = (): void => {
    // Changes during a reading are taken in.
    if (!store.state.grants.reading) grants.refresh();
  };

  return {
    listGrants,
    listen(client: Client): void {
      client.onNotification("grant/changed", (grant) => store.update(grantChanged(grant)));
    },
    actions: {
      /** Reads the grants again. */
      listGrants,
      /** Makes a grant outside of an ask. Rejects with an {@link RpcError} that says what is wrong with it. */
      async createGrant(terms: GrantTerms): Promise<void> {
        store.update(grantChanged(await request("grant/create", terms)));
      },
      /** Ends a grant at once. Rejects with an {@link RpcError} if it stays. */
      async revokeGrant(grantId: string): Promise<void> {
        store.update(grantChanged(await request("grant/revoke", { grantId })));
      },
      /** Tries a grant on past requests. Rejects as making the grant would. */
      previewGrant: (terms: GrantTerms): Promise<PreviewGrantResult> =>
        request("grant/preview", terms),
      /** Reads the remembered answers about tools. */
      listToolRules: rules.refresh,
      /** Removes a remembered answer. Rejects with an {@link RpcError} if it stays. */
      async removeToolRule(ruleId: string): Promise<void> {
        await request("toolRule/remove", { ruleId });
        rules.refresh();
      },
    },
  };
}
