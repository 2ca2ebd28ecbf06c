import { useEffect } from "react";
import type { Actions } from "../../store/session.ts";

/**
 * Alt+F8 and Shift+Alt+F8 go through the open asks. VS Code has keybindings for that, which the person can change, and
 * must know when they apply to this page. In a browser the page itself listens.
 */
export function useAskKeys(running: boolean, actions: Actions): void {
  useEffect(() => {
    if (!running) return;
    return document.body.dataset["host"] === "vscode" ? tellFocus(actions) : listen(actions);
  }, [running, actions]);
}

function tellFocus({ focusChanged }: Actions): () => void {
  const onFocus = () => focusChanged(true);
  const onBlur = () => focusChanged(false);
  window.addEventListener("focus", onFocus);
  window.addEventListener("blur", onBlur);
  focusChanged(document.hasFocus());
  return () => {
    window.removeEventListener("focus", onFocus);
    window.removeEventListener("blur", onBlur);
  };
}

function listen({ reveal }: Actions): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "F8" || !event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    reveal({ kind: event.shiftKey ? "previousAsk" : "nextAsk" });
  };
  window.addEventListener("keydown", onKeyDown);
  return () => window.removeEventListener("keydown", onKeyDown);
}
