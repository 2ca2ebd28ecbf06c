import { createContext } from "react";

/** Leads from a row to where a person changes the standing decision that settled it. */
export const ChangeContext = createContext<() => void>(() => {});
