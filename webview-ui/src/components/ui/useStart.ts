import { useRef, useState } from "react";

/** Something that the person starts, and that may be refused. */
export interface Start<A extends readonly unknown[]> {
  /** It is being started; nothing else is, meanwhile. */
  readonly busy: boolean;
  /** Why it was not started the last time; absent where it was. */
  readonly refusal: unknown;
  readonly start: (...args: A) => void;
}

/** Starts one thing at a time, however often the button is pressed. */
export function useStart<A extends readonly unknown[]>(
  run: (...args: A) => Promise<void>,
): Start<A> {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<unknown>();
  // Two presses may come before the first one is drawn.
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
