import { type RefObject, useEffect, useRef } from "react";

/**
 * Opens the conversation's search on Ctrl+F or Command+F, because the browser's search sees only rendered messages. A page
 * in place of the task has nothing that it could find.
 */
export function useFindKey(conversation: RefObject<Element | null>, find: () => void): void {
  const latest = useRef(find);
  latest.current = find;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { ctrlKey, metaKey, shiftKey, altKey, key } = event;
      if (ctrlKey === metaKey || shiftKey || altKey || key.toLowerCase() !== "f") return;
      if (conversation.current?.closest("[inert]")) return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [conversation]);
}
