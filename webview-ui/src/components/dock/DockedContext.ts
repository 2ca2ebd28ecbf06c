import { createContext, type ReactNode } from "react";

/** What the dock gives to the card that it shows. */
export interface Docked {
  /** How often a question has come before the person; its buttons wait for a moment after each. */
  readonly turn: number;
  /** The question is the one that is shown. */
  readonly shown: boolean;
  /** What stands in the card's head, under who asks. */
  readonly head: ReactNode;
  /** What stands at the beginning of the card's body. */
  readonly notes: ReactNode;
  /** What stands at its end. */
  readonly more: ReactNode;
}

/** A card without a dock is shown once and for all. */
export const DockedContext = createContext<Docked>({
  turn: 0,
  shown: true,
  head: null,
  notes: null,
  more: null,
});
