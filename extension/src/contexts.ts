import type { TaskEventParams } from "@assent/protocol";
import type { Sidecar } from "./sidecar.ts";
import type { State } from "./state.ts";

/** The keys that the manifest's `when`, `enablement` and `completionEvents` are made of. */
export type ContextKey =
  /** The sidecar answers. */
  | "assent.running"
  /** How many questions wait here. */
  | "assent.openAsks"
  /** An MCP server is configured. */
  | "assent.hasServers"
  /** There is a conversation. */
  | "assent.hasTasks"
  /** The person has answered a question, in whichever session. */
  | "assent.hasAnswered"
  /**
   * The walkthrough was opened by its command. VS Code takes note of a step's context key when that becomes
   * true, and not of one that was before VS Code had read the walkthrough, seconds after its start: this
   * one, beside the other, makes it look again.
   */
  | "assent.walkthrough";

/** Where it is kept that the person has answered once: VS Code shows a walkthrough for weeks. */
const answeredKey = "contexts.answered";

/** Keeps VS Code's context keys at what the sidecar says, and sets each only when it changes. */
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
      // The sidecar has ended again; the next one is asked when it runs.
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
    this.#put("assent.hasTasks", true); // and no task is ever deleted
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
