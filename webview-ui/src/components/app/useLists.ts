import { useRef, useState } from "react";
import type { Actions } from "../../store/session.ts";
import type { List } from "./useReveal.ts";

interface Shown {
  readonly list: List;
  /** What to show in it: a question, or a server's page. */
  readonly at: string | undefined;
  readonly times: number;
}

/** The action that reads each list; undefined for a page that reads by itself. */
const listReader = {
  openAsks: "listOpenAsks",
  mcpTasks: "listMcpTasks",
  policy: "listPolicy",
  servers: "listServers",
  setup: undefined,
} as const satisfies Record<List, keyof Actions | undefined>;

/** Keeps track of which list is shown above the conversation. */
export function useLists(actions: Actions) {
  const [shown, setShown] = useState<Shown>();
  const inbox = useRef<HTMLButtonElement>(null);
  const more = useRef<HTMLButtonElement>(null);
  return {
    shown,
    /** The buttons that take the focus when a list is hidden. */
    inbox,
    more,
    show(list: List, at?: string): void {
      // A second request gives it the focus again.
      setShown({ list, at, times: (shown?.times ?? 0) + 1 });
      const read = listReader[list];
      if (read !== undefined) actions[read]();
    },
    hide(): void {
      if (shown !== undefined) (shown.list === "openAsks" ? inbox : more).current?.focus();
      setShown(undefined);
    },
    openMessage(taskId: string, messageId: number): void {
      setShown(undefined);
      actions.reveal({ kind: "message", taskId, messageId });
    },
  };
}
