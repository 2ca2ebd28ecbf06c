import * as l10n from "@vscode/l10n";
import { type Ref, useEffect, useId, useRef, useState } from "react";
import type { Actions } from "../../store/session.ts";
import { useSearch } from "../tasks/useSearch.ts";
import { IconButton } from "../ui/IconButton.tsx";
import type { Found } from "./useFound.ts";

export interface FindBarProps {
  readonly taskId: string;
  readonly searchTasks: Actions["searchTasks"];
  /** The message to show, which has the text; or undefined if no message has it. */
  readonly onGo: (found: Found | undefined) => void;
  readonly onClose: () => void;
  readonly ref?: Ref<HTMLInputElement>;
}

/** The most matches to step through. */
const mostHits = 1000;

/**
 * Finds a text in the whole conversation. The browser's own search would miss messages that are not rendered or not
 * loaded. It starts at the newest match and goes back from there.
 */
export function FindBar({ taskId, searchTasks, onGo, onClose, ref }: FindBarProps) {
  const [text, setText] = useState("");
  const { hits, truncated, searching, failure } = useSearch(text, searchTasks, taskId, mostHits);
  const [at, setAt] = useState(0);
  const statusId = useId();
  const go = useRef(onGo);
  go.current = onGo;
  const show = (index: number) => {
    const hit = hits[(index + hits.length) % hits.length];
    setAt(hit === undefined ? 0 : hits.indexOf(hit));
    go.current(hit && { messageId: hit.messageId, text: text.trim() });
  };
  const first = useRef(show);
  first.current = show;
  // biome-ignore lint/correctness/useExhaustiveDependencies: new results are shown from the first one.
  useEffect(() => first.current(0), [hits]);
  return (
    <section className="find-bar" aria-label={l10n.t("Search")}>
      <input
        ref={ref}
        type="text"
        aria-label={l10n.t("Find in this task")}
        aria-describedby={statusId}
        placeholder={l10n.t("Find in this task…")}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") onClose();
          else if (event.key === "Enter") show(event.shiftKey ? at - 1 : at + 1);
          else return;
          event.preventDefault();
        }}
      />
      <span id={statusId} role="status" className="muted">
        {failure ?? words(text, searching, hits.length, at, truncated)}
      </span>
      <IconButton
        icon="arrow-up"
        label={l10n.t("Older Match (Enter)")}
        onClick={() => show(at + 1)}
      />
      <IconButton
        icon="arrow-down"
        label={l10n.t("Newer Match (Shift+Enter)")}
        onClick={() => show(at - 1)}
      />
      <IconButton icon="close" label={l10n.t("Close the Search (Escape)")} onClick={onClose} />
    </section>
  );
}

function words(text: string, searching: boolean, found: number, at: number, truncated: boolean) {
  if (text.trim().length < 2) return "";
  if (searching) return l10n.t("Searching…");
  if (found === 0) return truncated ? l10n.t("None in the newest messages") : l10n.t("None");
  const which = l10n.t("{0} of {1}", at + 1, found);
  return truncated ? l10n.t("{0}; older messages are not searched", which) : which;
}
