import { useEffect, useRef } from "react";

/** Ctrl+F, or Command+F, finds in the conversation: the browser's own search sees only what is drawn of it. */
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
