import { createContext, useContext } from "react";
import { ViewStateStore } from "./viewState.ts";

/** Where components keep what must survive a reload. Without a provider they keep it to themselves. */
export const ViewContext = createContext(
  new ViewStateStore({ load: () => undefined, save: () => {} }),
);

export function useView(): ViewStateStore {
  return useContext(ViewContext);
}
