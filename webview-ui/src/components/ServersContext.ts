import type { Server } from "@assent/protocol";
import { createContext } from "react";

/** The configured servers; nothing until they are known. */
export const ServersContext = createContext<readonly Server[] | undefined>(undefined);
