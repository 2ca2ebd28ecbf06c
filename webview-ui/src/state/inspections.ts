import type { ServerInspection } from "@assent/protocol";
import type { State } from "./state.ts";

/** What is known of servers, by name, as far as somebody looked. */
export type Inspections = ReadonlyMap<string, Inspection>;

/** No event tells of most of it: it is as it was when it was last read. */
export interface Inspection {
  /** Absent until it was read. */
  readonly result: ServerInspection | undefined;
  readonly reading: boolean;
  /** Why it could not be read the last time. */
  readonly failure: string | undefined;
}

const unread: Inspection = { result: undefined, reading: false, failure: undefined };

/** Changes what is known of one server. */
export function withInspection(
  state: State,
  serverName: string,
  change: Partial<Inspection>,
): State {
  const known = state.inspections.get(serverName) ?? unread;
  const inspections = new Map(state.inspections).set(serverName, { ...known, ...change });
  return { ...state, inspections };
}
