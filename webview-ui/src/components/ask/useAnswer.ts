import type { AskResponseParams } from "@assent/protocol";
import { useRef, useState } from "react";

/** The parts of an answer, without the ask. */
export type Answer = Omit<AskResponseParams, "taskId" | "askId">;

export interface AnswerState {
  /** An answer is being sent, or was confirmed. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: Error | undefined;
  readonly answer: (answer: Answer) => void;
  /** Runs another action on the ask under the same lock. It resolves to whether the action settles the ask. */
  readonly act: (work: () => Promise<boolean>) => void;
}

/**
 * The busy lock of an ask: one answer at a time. A refused answer releases it. A confirmed answer does not, because the
 * event that settles the ask follows.
 */
export function useAnswer(send: (answer: Answer) => Promise<unknown>): AnswerState {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Error>();
  // A second click may arrive before the first one is rendered.
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
