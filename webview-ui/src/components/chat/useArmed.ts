import { useContext, useEffect, useState } from "react";
import { DockedContext } from "../dock/DockedContext.ts";

/** So long an ask must have been there before it can be answered. */
export const armingMs = 500;

/**
 * False at first: who clicked or typed when an ask appeared under their hands did not mean it. An ask
 * whose buttons change names the phase that it is in, and each begins anew; so does an ask that the dock
 * shows again.
 */
export function useArmed(phase = "asked"): boolean {
  const { turn } = useContext(DockedContext);
  const now = `${turn} ${phase}`;
  const [armed, setArmed] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setArmed(now), armingMs);
    return () => clearTimeout(timer);
  }, [now]);
  return armed === now;
}
