import type { DeclinedServer, Grant, Server } from "@assent/protocol";
import { createContext, useContext } from "react";

// Parts of the state for components that are drawn deep inside of others.

/** The configured servers; undefined until they are known. */
export const ServersContext = createContext<readonly Server[] | undefined>(undefined);

/** The servers from which the sidecar declines everything now. */
export const DeclinedContext = createContext<readonly DeclinedServer[]>([]);

export const GrantsContext = createContext<readonly Grant[]>([]);

/** Returns the grant with this id; undefined if it is not known. */
export function useGrant(grantId: string | undefined): Grant | undefined {
  return useContext(GrantsContext).find(({ id }) => id === grantId);
}
