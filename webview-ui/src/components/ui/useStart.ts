import { useRef, useState } from "react";

/** An action of the person that may fail. */
export interface Start<A extends readonly unknown[]> {
  /** The action is running. No other one is possible. */
  readonly busy: boolean;
  /** Why the last try failed; undefined if it worked. */
  readonly refusal: unknown;
  readonly start: (...args: A) => void;
}

/** Runs one action at a time, however often the button is pressed. */
export function useStart<A extends readonly unknown[]>(
  run: (...args: A) => Promise<void>,
): Start<A> {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<unknown>();
  // A second press may arrive before the first one is rendered.
  const locked = useRef(false);
  const start = async (...args: A) => {
    if (locked.current) return;
    locked.current = true;
    setBusy(true);
    setRefusal(undefined);
    try {
      await run(...args);
    } catch (error) {
      setRefusal(error);
    } finally {
      locked.current = false;
      setBusy(false);
    }
  };
  return { busy, refusal, start: (...args) => void start(...args) };
}
