import { useContext, useEffect, useState } from "react";
import { DockedContext } from "./contexts.ts";
import type { Reading } from "./useReading.ts";

/** How long an ask must be visible before it can be answered, in milliseconds. */
export const armingMs = 500;

/**
 * Reports whether an ask can be answered. It is false at first, because a click or key at the moment when an ask
 * appears was not meant for it. It becomes false again when the ask's buttons change (another phase, or all was
 * read), and when the dock shows the ask again.
 */
export function useClickGuard(phase = "asked", reading?: Reading["state"]): boolean {
  const { turn } = useContext(DockedContext);
  const now = `${turn} ${phase} ${reading}`;
  const [armed, setArmed] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setArmed(now), armingMs);
    return () => clearTimeout(timer);
  }, [now]);
  return armed === now;
}
