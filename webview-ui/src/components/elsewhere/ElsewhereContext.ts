import type { Elsewhere } from "@assent/protocol";
import { createContext, useContext } from "react";

/** That the open task is not live in this window, and the way to bring it here. */
export interface AwayTask {
  readonly elsewhere: Elsewhere;
  /** It is being brought here. */
  readonly taking: boolean;
  readonly onContinue: () => void;
}

/** Nothing while the open task is live here, or nowhere. */
export const ElsewhereContext = createContext<AwayTask | undefined>(undefined);

/** Whatever would change the open task is not offered while this says where it is. */
export function useAway(): AwayTask | undefined {
  return useContext(ElsewhereContext);
}
