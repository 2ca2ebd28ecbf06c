import type { DeclinedServer, Grant, Server } from "@assent/protocol";
import { createContext, useContext } from "react";

// Parts of the state for deeply nested components.

/** The configured servers; undefined until they are known. */
export const ServersContext = createContext<readonly Server[] | undefined>(undefined);

/** The servers for which the sidecar declines all requests now. */
export const DeclinedContext = createContext<readonly DeclinedServer[]>([]);

export const GrantsContext = createContext<readonly Grant[]>([]);

/** Returns the grant with this id; undefined if it is unknown. */
export function useGrant(grantId: string | undefined): Grant | undefined {
  return useContext(GrantsContext).find(({ id }) => id === grantId);
}
