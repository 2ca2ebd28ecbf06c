/**
 * The state that the sidecar and the host reported, and nothing else. The components render it. Each domain of the store
 * adds its part in its own file.
 */
export interface State {
  /** Why the person's last action failed, until they dismiss it. */
  readonly failure: string | undefined;
}

/** Returns the new state after a notification or a reading. It has no side effects. */
export type Change = (state: State) => State;

/** Returns the change that replaces these parts of the state. */
export function set(parts: Partial<State>): Change {
  return (state) => ({ ...state, ...parts });
}
