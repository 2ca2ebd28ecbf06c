import { createContext, type ReactNode } from "react";
import { focusAsk } from "../ui/focus.ts";

/** The values that the dock provides to the card that it shows. */
export interface Docked {
  /** Counts how often a question was shown. Its buttons are disabled for a moment each time. */
  readonly turn: number;
  /** Whether the question is the visible one. */
  readonly shown: boolean;
  /** An agent's host asks, and no server. */
  readonly ofHost?: boolean;
  /** Drawn in the card's head, below the title. */
  readonly head: ReactNode;
  /** Drawn at the beginning of the card's body. */
  readonly notes: ReactNode;
  /** Drawn at the end of the card's body. */
  readonly more: ReactNode;
  /** The card is in a list with others, and not in the dock. Its name has its question, too. */
  readonly listed?: boolean;
  /** Where an answer files a question of no task, in words for the button, such as "in “First”". */
  readonly filedIn?: string | undefined;
}

/** Without a provider, a card is not in a dock and is always shown. */
export const DockedContext = createContext<Docked>({
  turn: 0,
  shown: true,
  head: null,
  notes: null,
  more: null,
});

/** Reveals an ask of the row's task and focuses it. The ask may be out of view. */
export const ShowContext = createContext<(askId: string) => void>(focusAsk);
