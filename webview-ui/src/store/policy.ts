import type {
  AskFirstTerms,
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

declare module "./state.ts" {
  interface State extends PolicyState {}
}

/** All policy entries: automatic answers and limits. */
export interface Policy extends Resource {
  /** Grouped by kind, newest first; undefined until they were listed. */
  readonly entries: readonly PolicyEntry[] | undefined;
  /** The grants that changed during a reading, which are newer than the list; undefined while nothing is read. */
  readonly news: readonly Grant[] | undefined;
}

export const noPolicy: Policy = { ...notRead, entries: undefined, news: undefined };

export const initialPolicy: PolicyState = { policy: noPolicy };

/** The shortest pause between two readings, because a server may use an entry many times a second. */
const pauseMs = 500;

/** Applies a grant that was created, used or ended. */
export function takeGrant(known: Policy, grant: Grant): Policy {
  return {
    ...known,
    entries: withGrant(known.entries ?? [], grant),
    news: known.news && [...known.news, grant],
  };
}

/** Applies the list, and the grants that changed while it was read. */
export function takePolicy(known: Policy, listed: readonly PolicyEntry[]): Policy {
  return { ...known, entries: (known.news ?? []).reduce(withGrant, listed), news: undefined };
}

/** Returns the grants, newest first. */
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
      /** Creates a grant outside of an ask. Rejects with an {@link RpcError} that describes the problem. */
      async createGrant(terms: GrantTerms): Promise<void> {
        store.update(grantChanged(await request("grant/create", terms)));
      },
      /** Ends a grant at once. Rejects with an {@link RpcError} if that fails. */
      async revokeGrant(grantId: string): Promise<void> {
        store.update(grantChanged(await request("grant/revoke", { grantId })));
      },
      /** Tries a grant on past requests. Rejects as creating the grant would. */
      previewGrant: (terms: GrantTerms): Promise<PreviewGrantResult> =>
        request("grant/preview", terms),
      /** Makes a rule before what an agent asks. Rejects with an {@link RpcError} that describes the problem. */
      async addAskFirst(terms: AskFirstTerms): Promise<void> {
        await request("askFirst/add", terms);
        reader.refresh();
      },
      /** Removes such a rule. Rejects with an {@link RpcError} if that fails. */
      async removeAskFirst(ruleId: string): Promise<void> {
        await request("askFirst/remove", { ruleId });
        reader.refresh();
      },
      /** Removes a tool rule. Rejects with an {@link RpcError} if that fails. */
      async removeToolRule(ruleId: string): Promise<void> {
        await request("toolRule/remove", { ruleId });
        reader.refresh();
      },
    },
  };
}
