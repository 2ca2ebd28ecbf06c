import type { AskResponseParams } from "@assent/protocol";
import { useRef, useState } from "react";

/** What an answer to an ask is made of, apart from the ask. */
export type Answer = Omit<AskResponseParams, "taskId" | "askId">;

export interface AnswerState {
  /** An answer is under way, or was confirmed. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: Error | undefined;
  readonly answer: (answer: Answer) => void;
}

/**
 * The busy lock of an ask: one answer at a time. It opens again where the answer was refused, and
 * stays shut where it was confirmed, since the event that settles the ask is on its way.
 */
export function useAnswer(send: (answer: Answer) => Promise<unknown>): AnswerState {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Error>();
  // Two clicks may come before the first one is drawn.
  const locked = useRef(false);

  const settle = async (answer: Answer) => {
    if (locked.current) return;
    locked.current = true;
    setBusy(true);
    setRefusal(undefined);
    try {
      await send(answer);
    } catch (error) {
      locked.current = false;
      setBusy(false);
      setRefusal(error instanceof Error ? error : new Error(String(error)));
    }
  };

  return { busy, refusal, answer: (answer) => void settle(answer) };
}
