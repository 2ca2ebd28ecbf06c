import { useEffect, useState } from "react";

/** So long an ask must have been there before it can be answered. */
export const armingMs = 500;

/**
 * False at first: who clicked or typed when an ask appeared under their hands did not mean it. An ask
 * whose buttons change names the phase that it is in, and each begins anew.
 */
export function useArmed(phase = "asked"): boolean {
  const [armed, setArmed] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setArmed(phase), armingMs);
    return () => clearTimeout(timer);
  }, [phase]);
  return armed === phase;
}
