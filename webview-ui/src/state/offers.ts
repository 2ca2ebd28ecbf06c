import type { Prompt, Resource, ResourceTemplate, Server, Tool } from "@assent/protocol";

/** Everything that a server can offer, by the list that it is in. */
export interface Offered {
  readonly tools: Tool;
  readonly resources: Resource;
  readonly templates: ResourceTemplate;
  readonly prompts: Prompt;
}

export type OfferKind = keyof Offered;

export const offerKinds: readonly OfferKind[] = ["tools", "resources", "templates", "prompts"];

/** A list of a server's, as far as it was read. */
export type Listing<T> =
  | { readonly state: "loading" }
  | { readonly state: "ready"; readonly items: readonly T[] }
  | { readonly state: "failed"; readonly message: string };

/** What a server offers. A list that was never read, or is over, is absent. */
export type Offers = { readonly [K in OfferKind]?: Listing<Offered[K]> | undefined };

export function itemsOf<T>(list: Listing<T> | undefined): readonly T[] {
  return list?.state === "ready" ? list.items : [];
}

/**
 * What is left of a server's lists once it is in another state: one that starts again may offer other
 * things, and one that runs may offer some after all. A list that is being read stays so.
 */
export function afterChange(offers: Offers, server: Server): Offers {
  const isOver = (list: Listing<unknown> | undefined): boolean => {
    if (list === undefined || list.state === "loading") return false;
    return server.state === "starting" || (server.state === "running" && list.state === "failed");
  };
  const kept = Object.entries(offers).filter(([, list]) => !isOver(list));
  return Object.fromEntries(kept);
}
