import type { AsksState } from "./asks.ts";
import type { ConversationState } from "./conversation.ts";
import type { HostState } from "./host.ts";
import type { IconsState } from "./icons.ts";
import type { McpTasksState } from "./mcpTasks.ts";
import type { OffersState } from "./offers.ts";
import type { PolicyState } from "./policy.ts";
import type { ServersState } from "./servers.ts";
import type { StorageState } from "./storage.ts";
import type { TasksState } from "./tasks.ts";

/** The state that the sidecar and the host reported, and nothing else. The components render it. */
export interface State
  extends HostState,
    StorageState,
    TasksState,
    ConversationState,
    AsksState,
    McpTasksState,
    PolicyState,
    ServersState,
    OffersState,
    IconsState {}

/** Returns the new state after a notification or a reading. It has no side effects. */
export type Change = (state: State) => State;

/** Returns the change that replaces these parts of the state. */
export function set(parts: Partial<State>): Change {
  return (state) => ({ ...state, ...parts });
}
