import type { Ask } from "@assent/protocol";
import { useEffect, useRef, useState } from "react";
import { askTitleText } from "../ask/askTitle.tsx";

export interface AnnouncerProps {
  /** The open task. A change of the task is not announced. */
  readonly taskId: string | undefined;
  readonly asks: readonly Ask[];
}

/** Announces each new ask to screen readers, without moving the focus. */
export function Announcer({ taskId, asks }: AnnouncerProps) {
  const [words, setWords] = useState("");
  const known = useRef<{ taskId: string | undefined; askIds: ReadonlySet<string> }>({
    taskId: undefined,
    askIds: new Set(),
  });
  useEffect(() => {
    const before = known.current.taskId === taskId ? known.current.askIds : new Set<string>();
    known.current = { taskId, askIds: new Set(asks.map(({ askId }) => askId)) };
    const news = asks.filter(({ askId }) => !before.has(askId));
    if (news.length > 0) setWords(news.map(({ question }) => askTitleText(question)).join(" "));
    else if (asks.length === 0) setWords("");
  }, [taskId, asks]);
  return (
    <p role="status" className="visually-hidden">
      {words}
    </p>
  );
}
