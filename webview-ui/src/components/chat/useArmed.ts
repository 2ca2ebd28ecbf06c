import { useEffect, useState } from "react";

/** So long an ask must have been there before it can be answered. */
export const armingMs = 500;

/** False at first: who clicked or typed when an ask appeared under their hands did not mean it. */
export function useArmed(): boolean {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), armingMs);
    return () => clearTimeout(timer);
  }, []);
  return armed;
}
