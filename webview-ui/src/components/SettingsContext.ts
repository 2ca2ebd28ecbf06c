import { createContext } from "react";
import { defaultPanelSettings } from "../state/state.ts";

/** What the person has set of the panel. */
export const SettingsContext = createContext(defaultPanelSettings);
