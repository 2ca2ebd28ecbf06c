import type { CheckFormParams, Field, FieldProblem } from "@assent/protocol";
import { createContext, useCallback, useContext, useEffect, useRef } from "react";
import type { Draft } from "../../view/viewState.ts";
import { inWords } from "./problemText.ts";
import { type ExactNumbers, readForm } from "./readInputs.ts";

/** Asks the sidecar for the problems of a form. */
export type CheckForm = (
  params: CheckFormParams,
  signal: AbortSignal,
) => Promise<readonly FieldProblem[]>;

/** Checks forms. Without a provider, no problems are found. */
export const CheckContext = createContext<CheckForm>(async () => []);

/** The longest wait for the sidecar's check, in milliseconds. */
const longestCheck = 3000;

/**
 * Returns a function that finds the problems of some fields. It resolves to undefined if the form is gone. If the
 * sidecar cannot check now, it resolves to the inputs that cannot be sent: the sidecar checks the answer again later.
 */
export function useCheck(exactNumbers: ExactNumbers) {
  const ask = useContext(CheckContext);
  const gone = useRef(new AbortController());
  useEffect(() => {
    gone.current = new AbortController();
    return () => gone.current.abort();
  }, []);
  return useCallback(
    async (
      fields: readonly Field[],
      inputs: Draft,
    ): Promise<readonly FieldProblem[] | undefined> => {
      const { signal } = gone.current;
      const { content } = readForm(fields, inputs, "asText");
      const found = await within(longestCheck, (cancelled) =>
        ask({ fields: [...fields], content }, AbortSignal.any([signal, cancelled])),
      );
      if (signal.aborted) return undefined;
      const told = found.map((problem) => inWords(problem, fields, inputs));
      const unread = readForm(fields, inputs, exactNumbers).problems.filter(
        ({ name }) => !told.some((problem) => (problem.name ?? "") === name),
      );
      return [...told, ...unread];
    },
    [ask, exactNumbers],
  );
}

/** Resolves to the problems, or to none if the check fails or times out. */
async function within(
  milliseconds: number,
  check: (cancelled: AbortSignal) => Promise<readonly FieldProblem[]>,
): Promise<readonly FieldProblem[]> {
  const cancel = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<readonly FieldProblem[]>((resolve) => {
    timer = setTimeout(() => resolve([]), milliseconds);
  });
  try {
    return await Promise.race([check(cancel.signal), late]);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
    cancel.abort();
  }
}
