import { useEffect, useRef } from "react";

/** Opens the conversation's search on Ctrl+F or Command+F, because the browser's search sees only rendered messages. */
export function useFindKey(find: () => void): void {
  const latest = useRef(find);
  latest.current = find;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { ctrlKey, metaKey, shiftKey, altKey, key } = event;
      if (ctrlKey === metaKey || shiftKey || altKey || key.toLowerCase() !== "f") return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}
