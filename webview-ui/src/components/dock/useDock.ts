import type { Message } from "@assent/protocol";
import { useEffect, useState } from "react";
import { findOpenAsks, type OpenAskAt } from "../../store/openAsks.ts";
import { useView } from "../../view/ViewContext.ts";
import type { DockState } from "../../view/viewState.ts";
import { currentOf } from "./dockedAsks.ts";

export type DockSize = "half" | "expanded" | "collapsed";

export interface Dock {
  /** The loaded open asks, oldest first. */
  readonly asks: readonly OpenAskAt[];
  /** The ask to show; undefined if none is loaded. */
  readonly current: OpenAskAt | undefined;
  /** The current ask and those shown before. Their cards stay mounted. */
  readonly visited: readonly OpenAskAt[];
  readonly size: DockSize;
  /** Counts how often a question was shown. */
  readonly turn: number;
  /** Shows an ask, and expands a collapsed dock. */
  readonly show: (askId: string) => void;
  readonly resize: (size: DockSize) => void;
}

/** Decides which open ask of a task the dock shows, and its size. The view's state stores both. */
export function useDock(taskId: string, messages: readonly Message[]): Dock {
  const view = useView();
  const [kept, setKept] = useState(() => view.get().dock);
  const change = (next: (dock: DockState) => DockState) => {
    view.changeDock(next);
    setKept(view.get().dock);
  };
  const asks = findOpenAsks(messages);
  const chosen = kept.current[taskId];
  const current = currentOf(asks, messages, chosen);
  const askId = current?.ask.askId;
  const size = sizeOf(kept, askId);

  useEffect(() => {
    if (askId === undefined || askId === chosen) return;
    view.setDocked(taskId, askId);
    setKept(view.get().dock);
  }, [taskId, askId, chosen, view]);

  const shown = size === "collapsed" ? undefined : askId;
  const [seen, setSeen] = useState<Seen>({ shown: undefined, turn: 0, askIds: [] });
  if (seen.shown !== shown) {
    setSeen({
      shown,
      turn: seen.turn + 1,
      askIds:
        shown === undefined ? seen.askIds : [...seen.askIds.filter((id) => id !== shown), shown],
    });
  }
  const visited = asks.filter(({ ask }) => ask === current?.ask || seen.askIds.includes(ask.askId));

  return {
    ...{ asks, current, visited, size },
    turn: seen.turn,
    show(askId) {
      view.setDocked(taskId, askId);
      change(({ collapsed: _collapsed, ...dock }) => dock);
    },
    resize(size) {
      change(({ collapsed: _collapsed, ...dock }) => ({
        ...dock,
        ...(size === "collapsed" && askId !== undefined
          ? { collapsed: askId }
          : { expanded: size === "expanded" }),
      }));
    },
  };
}

interface Seen {
  readonly shown: string | undefined;
  readonly turn: number;
  readonly askIds: readonly string[];
}

function sizeOf({ expanded, collapsed }: DockState, askId: string | undefined): DockSize {
  if (collapsed !== undefined && collapsed === askId) return "collapsed";
  return expanded ? "expanded" : "half";
}
