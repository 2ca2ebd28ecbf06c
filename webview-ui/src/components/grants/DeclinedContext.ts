import type { DeclinedServer } from "@assent/protocol";
import { createContext } from "react";

/** The servers from which the sidecar declines everything now, for the lines of what it declined. */
export const DeclinedContext = createContext<readonly DeclinedServer[]>([]);
