import { createContext } from "react";
import { focusAsk } from "../ui/focus.ts";

/** How a row brings an ask of its task into view, and the focus to it. The ask may be out of sight. */
export const ShowContext = createContext<(askId: string) => void>(focusAsk);
