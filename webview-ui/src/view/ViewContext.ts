import { createContext, useContext } from "react";
import { ViewStateStore } from "./viewState.ts";

/** Where components store what must survive a reload. Without a provider they store it themselves. */
export const ViewContext = createContext(
  new ViewStateStore({ load: () => undefined, save: () => {} }),
);

export function useView(): ViewStateStore {
  return useContext(ViewContext);
}
