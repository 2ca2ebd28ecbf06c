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
  /** Does something else to the ask, under the same lock. It says whether that settles the ask. */
  readonly act: (work: () => Promise<boolean>) => void;
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

  const run = async (work: () => Promise<boolean>) => {
    if (locked.current) return;
    locked.current = true;
    setBusy(true);
    setRefusal(undefined);
    let settles = false;
    try {
      settles = await work();
    } catch (error) {
      setRefusal(error instanceof Error ? error : new Error(String(error)));
    }
    if (settles) return;
    locked.current = false;
    setBusy(false);
  };
  const settle = async (answer: Answer) => {
    await send(answer);
    return true;
  };

  return {
    busy,
    refusal,
    answer: (answer) => void run(() => settle(answer)),
    act: (work) => void run(work),
  };
}
