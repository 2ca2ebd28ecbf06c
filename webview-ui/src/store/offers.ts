import type { ListKind, Prompt, Resource, ResourceTemplate, Server, Tool } from "@assent/protocol";
import { type Client, messageOf, type RequestOptions } from "../link/client.ts";
import type { Change } from "./state.ts";
import type { Store } from "./store.ts";

export interface OffersState {
  /** The loaded offers of servers, by server name. */
  readonly offers: ReadonlyMap<string, Offers>;
}

declare module "./state.ts" {
  interface State extends OffersState {}
}

export const initialOffers: OffersState = { offers: new Map() };

/** The items of a server, by list. */
export interface Offered {
  readonly tools: Tool;
  readonly resources: Resource;
  readonly templates: ResourceTemplate;
  readonly prompts: Prompt;
}

export type OfferKind = keyof Offered;

export const offerKinds: readonly OfferKind[] = ["tools", "resources", "templates", "prompts"];

/** One list of a server, as far as it was read. */
export type Listing<T> =
  | { readonly state: "loading" }
  | {
      readonly state: "ready";
      readonly items: readonly T[];
      /** The odd things in the server's list; each is a sentence. */
      readonly problems?: readonly string[] | undefined;
    }
  | { readonly state: "failed"; readonly message: string };

type Ready<T> = Extract<Listing<T>, { readonly state: "ready" }>;

/** A server's offers. A list that was never read, or is outdated, is missing. */
export type Offers = { readonly [K in OfferKind]?: Listing<Offered[K]> | undefined };

export function itemsOf<T>(list: Listing<T> | undefined): readonly T[] {
  return list?.state === "ready" ? list.items : [];
}

/** Returns the odd things in a list. */
export function problemsOf(list: Listing<unknown> | undefined): readonly string[] {
  return list?.state === "ready" ? (list.problems ?? []) : [];
}

/** Replaces some of a server's lists. */
export function offersChanged(serverName: string, offers: Offers): Change {
  return (state) => {
    const known = state.offers.get(serverName);
    return { ...state, offers: new Map(state.offers).set(serverName, { ...known, ...offers }) };
  };
}

/**
 * Returns the lists that stay valid when a server's state changes. A restarted server may offer other items, and a
 * running one may offer items after all. A list that is being read stays.
 */
export function afterChange(offers: Offers, server: Server): Offers {
  const isOver = (list: Listing<unknown> | undefined): boolean => {
    if (list === undefined || list.state === "loading") return false;
    return server.state === "starting" || (server.state === "running" && list.state === "failed");
  };
  const kept = Object.entries(offers).filter(([, list]) => !isOver(list));
  return Object.fromEntries(kept);
}

export type OffersActions = ReturnType<typeof createOffers>["actions"];

export function createOffers(store: Store) {
  const { request } = store;
  /** The lists that are being reread, and whether they changed since. */
  const changed = new Map<string, boolean>();

  const readers: {
    readonly [K in OfferKind]: (
      serverName: string,
      options?: RequestOptions,
    ) => Promise<Ready<Offered[K]>>;
  } = {
    async tools(serverName, options) {
      const { tools, problems } = await request("tools/list", { serverName }, options);
      return { state: "ready", items: tools ?? [], problems };
    },
    async resources(serverName, options) {
      const { resources, problems } = await request("resources/list", { serverName }, options);
      return { state: "ready", items: resources ?? [], problems };
    },
    async templates(serverName, options) {
      const result = await request("resources/templates/list", { serverName }, options);
      return { state: "ready", items: result.resourceTemplates ?? [], problems: result.problems };
    },
    async prompts(serverName, options) {
      const { prompts, problems } = await request("prompts/list", { serverName }, options);
      return { state: "ready", items: prompts ?? [], problems };
    },
  };

  function put(serverName: string, kind: OfferKind, list: Listing<unknown> | undefined): void {
    store.update(offersChanged(serverName, { [kind]: list }));
  }

  /** Reads a list that the person waits for. */
  async function readOffers(
    serverName: string,
    kind: OfferKind,
    signal: AbortSignal,
  ): Promise<void> {
    const loading = { state: "loading" } as const;
    put(serverName, kind, loading);
    const read = async (): Promise<Listing<unknown> | undefined> => {
      try {
        return await readers[kind](serverName, { signal });
      } catch (error) {
        return signal.aborted ? undefined : { state: "failed", message: messageOf(error) };
      }
    };
    const list = await read();
    // A later reading replaces this one.
    if (store.state.offers.get(serverName)?.[kind] === loading) put(serverName, kind, list);
  }

  /**
   * Rereads a list after a server reported a change. The old list stays visible until then, so that a form does not
   * disappear while the person uses it. One reading runs at a time, and at most one more follows.
   */
  function readAgain(serverName: string, kind: OfferKind): void {
    const isShown = () => store.state.offers.get(serverName)?.[kind]?.state === "ready";
    if (!isShown()) return;
    const key = JSON.stringify([serverName, kind]);
    if (changed.has(key)) {
      changed.set(key, true);
      return;
    }
    store.attempt(async () => {
      try {
        do {
          changed.set(key, false);
          const list = await readers[kind](serverName);
          // A restart or failure since then takes precedence.
          if (!isShown()) return;
          put(serverName, kind, list);
        } while (changed.get(key));
      } finally {
        changed.delete(key);
      }
    });
  }

  return {
    listen(client: Client): void {
      client.onNotification("server/itemsChanged", ({ serverName, list }) => {
        for (const kind of kindsOf(list)) readAgain(serverName, kind);
      });
    },
    actions: {
      /** Reads lists of a server's offers. Starts the server if it is not running. */
      listOffers(serverName: string, kinds: readonly OfferKind[], signal: AbortSignal): void {
        for (const kind of kinds) void readOffers(serverName, kind, signal);
      },
    },
  };
}

/** Resources and their templates change together. */
function kindsOf(list: ListKind): readonly OfferKind[] {
  return list === "resources" ? ["resources", "templates"] : [list];
}
