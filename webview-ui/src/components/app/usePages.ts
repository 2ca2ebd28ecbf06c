import { useEffect, useRef, useState } from "react";
import type { Actions } from "../../store/session.ts";
import type { PageName } from "./useReveal.ts";

export interface ShownPageAt {
  readonly name: PageName;
  /** What to show in it: a question, a grant, or a server's page. */
  readonly at: string | undefined;
  /** Differs each time that it is shown, so that it takes the focus again. */
  readonly key: number;
}

/** The action that reads each page's content; undefined for a page that reads by itself. */
const reader = {
  openAsks: "listOpenAsks",
  mcpTasks: "listMcpTasks",
  policy: "listPolicy",
  servers: "listServers",
  setup: undefined,
} as const satisfies Record<PageName, keyof Actions | undefined>;

/** Keeps track of the page that is shown in place of the task, and of the way back. */
export function usePages(actions: Actions) {
  /** The pages on the way back; the last one is shown. */
  const [way, setWay] = useState<readonly ShownPageAt[]>([]);
  /** The page that the person went back from. */
  const [left, setLeft] = useState<ShownPageAt>();
  const lastKey = useRef(0);
  /** Had the focus when the first page was opened. */
  const opener = useRef<Element>(null);
  const inbox = useRef<HTMLButtonElement>(null);
  const more = useRef<HTMLButtonElement>(null);
  const page = way.at(-1);

  const isClosedBy = page === undefined ? left : undefined;
  useEffect(() => {
    if (isClosedBy === undefined) return;
    const from = opener.current;
    const isThere = from instanceof HTMLElement && from !== document.body && from.isConnected;
    const button = isClosedBy.name === "openAsks" ? inbox.current : more.current;
    (isThere ? from : button)?.focus();
  }, [isClosedBy]);

  return {
    page,
    left,
    /** The buttons that take the focus after a page if what opened it is gone. */
    inbox,
    more,
    show(name: PageName, at?: string): void {
      if (page === undefined) opener.current = document.activeElement;
      lastKey.current += 1;
      const shown = { name, at, key: lastKey.current };
      setWay([...way.filter((one) => one.name !== name || one.at !== at), shown]);
      setLeft(undefined);
      const read = reader[name];
      if (read !== undefined) actions[read]();
    },
    /** Returns to where the page was opened. */
    back(): void {
      setWay(way.slice(0, -1));
      setLeft(page);
    },
    /** Shows the task, in which something else takes the focus. */
    leave(): void {
      setWay([]);
      setLeft(undefined);
    },
  };
}
