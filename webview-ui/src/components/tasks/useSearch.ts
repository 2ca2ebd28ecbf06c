import type { SearchHit } from "@assent/protocol";
import { useEffect, useState } from "react";
import { messageOf } from "../../link/client.ts";
import type { Actions } from "../../store/session.ts";

export interface Search {
  readonly hits: readonly SearchHit[];
  /** There may be more results. */
  readonly truncated: boolean;
  readonly searching: boolean;
  readonly failure: string | undefined;
}

const nothing: Search = { hits: [], truncated: false, searching: false, failure: undefined };

/** The pause after a key before the search, in milliseconds. */
const pause = 200;

/** The shortest and longest text to search for. */
const bounds = { least: 2, most: 200 } as const;

/** Searches messages, of all tasks or of one. Old results stay until there are new ones. */
export function useSearch(
  text: string,
  searchTasks: Actions["searchTasks"],
  taskId?: string,
  limit?: number,
): Search {
  const [search, setSearch] = useState(nothing);
  const wanted = text.trim();
  useEffect(() => {
    const { length } = [...wanted];
    if (length < bounds.least || length > bounds.most) {
      setSearch(nothing);
      return;
    }
    setSearch((before) => ({ ...before, searching: true }));
    const aborter = new AbortController();
    const look = async () => {
      const params = {
        text: wanted,
        ...(taskId !== undefined && { taskId }),
        ...(limit !== undefined && { limit }),
      };
      try {
        const { hits = [], truncated = false } = await searchTasks(params, aborter.signal);
        if (!aborter.signal.aborted) setSearch({ ...nothing, hits, truncated });
      } catch (error) {
        if (!aborter.signal.aborted) setSearch({ ...nothing, failure: messageOf(error) });
      }
    };
    const timer = setTimeout(() => void look(), pause);
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [wanted, searchTasks, taskId, limit]);
  return search;
}
