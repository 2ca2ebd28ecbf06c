import type { TaskEventParams } from "@assent/protocol";
import type { Sidecar } from "./sidecar.ts";
import type { State } from "./state.ts";

/** The context keys that the manifest uses in `when`, `enablement` and `completionEvents`. */
export type ContextKey =
  /** The sidecar is running. */
  | "assent.running"
  /** The number of open questions here. */
  | "assent.openAsks"
  /** An MCP server is configured. */
  | "assent.hasServers"
  /** There is a conversation. */
  | "assent.hasTasks"
  /** The person has answered a question, in this session or an earlier one. */
  | "assent.hasAnswered"
  /**
   * The walkthrough was opened by its command. VS Code completes a step when its context key becomes true. It misses a
   * key that was true before it read the walkthrough, seconds after its start. This second key makes it evaluate the
   * step again.
   */
  | "assent.walkthrough";

/** The state that says that the person has answered once. VS Code shows a walkthrough for weeks. */
const answeredKey = "contexts.answered";

/** Keeps VS Code's context keys up to date. It sets a key only when its value changes. */
export class Contexts {
  readonly #sidecar: Sidecar;
  readonly #state: State;
  readonly #set: (key: ContextKey, value: boolean | number) => void;
  readonly #values = new Map<ContextKey, boolean | number>();

  constructor(
    sidecar: Sidecar,
    state: State,
    set: (key: ContextKey, value: boolean | number) => void,
  ) {
    this.#sidecar = sidecar;
    this.#state = state;
    this.#set = set;
    this.#put("assent.hasAnswered", state.get(answeredKey) === true);
    sidecar.onStatus(() => this.#look());
    sidecar.onNotification((method, params) => {
      if (method === "servers/changed") void this.#readServers();
      else if (method === "task/event") this.#note(params as TaskEventParams);
    });
    this.#look();
  }

  setOpenAsks(count: number): void {
    this.#put("assent.openAsks", count);
  }

  noteWalkthrough(): void {
    this.#put("assent.walkthrough", true);
  }

  #look(): void {
    const running = this.#sidecar.status.state === "running";
    this.#put("assent.running", running);
    if (!running) return;
    void this.#readServers();
    void this.#readTasks();
  }

  async #readServers(): Promise<void> {
    try {
      const { servers = [] } = await this.#sidecar.request("server/list", undefined);
      this.#put("assent.hasServers", servers.length > 0);
    } catch {
      // The sidecar has ended. The next one is asked when it runs.
    }
  }

  async #readTasks(): Promise<void> {
    try {
      const { tasks = [] } = await this.#sidecar.request("task/list", undefined);
      if (tasks.length > 0) this.#put("assent.hasTasks", true);
    } catch {
      // As above.
    }
  }

  #note({ event }: TaskEventParams): void {
    this.#put("assent.hasTasks", true);
    if (event.type !== "askSettled" || event.outcome.by === undefined) return;
    if (this.#values.get("assent.hasAnswered") === true) return;
    this.#put("assent.hasAnswered", true);
    void this.#state.update(answeredKey, true);
  }

  #put(key: ContextKey, value: boolean | number): void {
    if (this.#values.get(key) === value) return;
    this.#values.set(key, value);
    this.#set(key, value);
  }
}
