import { createContext, type ReactNode } from "react";
import { focusAsk } from "../ui/focus.ts";

/** What the dock gives to the card that it shows. */
export interface Docked {
  /** Counts the times that a question was shown. Its buttons wait for a moment each time. */
  readonly turn: number;
  /** The question is the one that is shown. */
  readonly shown: boolean;
  /** Drawn in the card's head, below the title. */
  readonly head: ReactNode;
  /** Drawn at the beginning of the card's body. */
  readonly notes: ReactNode;
  /** Drawn at the end of the card's body. */
  readonly more: ReactNode;
}

/** By default a card is not in a dock, and is always shown. */
export const DockedContext = createContext<Docked>({
  turn: 0,
  shown: true,
  head: null,
  notes: null,
  more: null,
});

/** How a row brings an ask of its task into view, and the focus to it. The ask may be out of sight. */
export const ShowContext = createContext<(askId: string) => void>(focusAsk);
