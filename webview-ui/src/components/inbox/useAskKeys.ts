import type { Reveal } from "@assent/protocol/host";
import { useEffect } from "react";

/** In a browser, does for Alt+F8 and Shift+Alt+F8 what VS Code's own keybindings do there. */
export function useAskKeys(reveal: (reveal: Reveal) => void): void {
  useEffect(() => {
    if (document.body.dataset["host"] === "vscode") return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "F8" || !event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      reveal({ kind: event.shiftKey ? "previousAsk" : "nextAsk" });
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [reveal]);
}
