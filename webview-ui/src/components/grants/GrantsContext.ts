import type { Grant } from "@assent/protocol";
import { createContext, useContext } from "react";

/** The grants, for what is drawn in a conversation whose other rows have no business with them. */
export const GrantsContext = createContext<readonly Grant[]>([]);

export function useGrant(grantId: string | undefined): Grant | undefined {
  return useContext(GrantsContext).find(({ id }) => id === grantId);
}
