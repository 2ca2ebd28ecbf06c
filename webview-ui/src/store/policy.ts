import type {
  Grant,
  GrantTerms,
  ListPolicyResult,
  PolicyEntry,
  PreviewGrantResult,
} from "@assent/protocol";
import type { Client } from "../link/client.ts";
import { createReader, notRead, type Resource } from "./resource.ts";
import { type Change, set } from "./state.ts";
import type { Store } from "./store.ts";

export interface PolicyState {
  readonly policy: Policy;
}

/** Everything that answers in the person's name, or limits requests. */
export interface Policy extends Resource {
  /** Those of a kind together, the newest first; absent until they were listed. */
  readonly entries: readonly PolicyEntry[] | undefined;
  /** The grants that changed during a reading, which are newer than the list; absent while nothing is read. */
  readonly news: readonly Grant[] | undefined;
}

export const noPolicy: Policy = { ...notRead, entries: undefined, news: undefined };

export const initialPolicy: PolicyState = { policy: noPolicy };

/** The least pause between two readings: a server may use an entry many times a second. */
const pauseMs = 500;

/** Takes in a grant that was made, used or ended. */
export function takeGrant(known: Policy, grant: Grant): Policy {
  return {
    ...known,
    entries: withGrant(known.entries ?? [], grant),
    news: known.news && [...known.news, grant],
  };
}

/** Takes in the list, and the grants that changed while it was read. */
export function takePolicy(known: Policy, listed: readonly PolicyEntry[]): Policy {
  return { ...known, entries: (known.news ?? []).reduce(withGrant, listed), news: undefined };
}

/** Returns the grants, the newest first. */
export function grantsOf(entries: readonly PolicyEntry[] = []): readonly Grant[] {
  return entries.flatMap((entry) => (entry.type === "grant" ? [entry.grant] : []));
}

function withGrant(entries: readonly PolicyEntry[], grant: Grant): readonly PolicyEntry[] {
  const index = entries.findIndex((entry) => entry.type === "grant" && entry.grant.id === grant.id);
  const known = entries[index];
  if (known?.type === "grant") return entries.with(index, { ...known, grant });
  const { serverName, toolName, by, createdAt } = grant;
  const head = { effect: "approve", serverName, by, at: createdAt } as const;
  return [
    { type: "grant", ...head, ...(toolName !== undefined && { toolName }), grant },
    ...entries,
  ];
}

function grantChanged(grant: Grant): Change {
  return (state) => ({ ...state, policy: takeGrant(state.policy, grant) });
}

export type PolicyActions = ReturnType<typeof createPolicy>["actions"];

export function createPolicy(store: Store) {
  const { request } = store;
  const reader = createReader<Policy, ListPolicyResult>(store, {
    get: (state) => state.policy,
    put: (policy) => set({ policy }),
    read: () => request("policy/list"),
    take: (known, { entries = [] }) => takePolicy(known, entries),
    start: { news: [] },
    fail: { news: undefined },
    pauseMs,
  });

  return {
    listPolicy: reader.refresh,
    listen(client: Client): void {
      client.onNotification("grant/changed", (grant) => store.update(grantChanged(grant)));
      client.onNotification("policy/changed", reader.refresh);
    },
    actions: {
      /** Reads the policy again. */
      listPolicy: reader.refresh,
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
      /** Removes a remembered answer about a tool. Rejects with an {@link RpcError} if it stays. */
      async removeToolRule(ruleId: string): Promise<void> {
        await request("toolRule/remove", { ruleId });
        reader.refresh();
      },
    },
  };
}
