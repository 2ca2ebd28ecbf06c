import type { TaskEventParams } from "@assent/protocol";
import type { Sidecar } from "./sidecar.ts";
import type { State } from "./state.ts";

/** The workspace's state that says whether something was open. */
const openKey = "openWork.open";

/**
 * Remembers whether questions or MCP tasks were open. Only then does the next session start a sidecar before the person
 * shows the panel.
 */
export class OpenWork {
  readonly #sidecar: Sidecar;
  readonly #state: State;
  /** Undefined until it is counted in this session of the sidecar. */
  #asks: number | undefined;
  #jobs: number | undefined;

  constructor(sidecar: Sidecar, state: State) {
    this.#sidecar = sidecar;
    this.#state = state;
    sidecar.onStatus(({ state }) => {
      this.#asks = undefined;
      this.#jobs = undefined;
      if (state === "running") void this.#readJobs();
    });
    sidecar.onNotification((method, params) => {
      if (method !== "task/event") return;
      const { type } = (params as TaskEventParams).event;
      if (type === "callTaskChanged" || type === "callEnded") void this.#readJobs();
    });
  }

  /** Whether something was open when the last window of this workspace ended. */
  get wasOpen(): boolean {
    return this.#state.get(openKey) === true;
  }

  setOpenAsks(count: number): void {
    this.#asks = count;
    this.#keep();
  }

  async #readJobs(): Promise<void> {
    try {
      const { mcpTasks = [] } = await this.#sidecar.request("mcpTask/list", undefined);
      this.#jobs = mcpTasks.filter(
        ({ call, workspace }) => call.endedAt === undefined && workspace === undefined,
      ).length;
      this.#keep();
    } catch {
      // The sidecar has ended. Its last count stays.
    }
  }

  /** A sidecar that ends resets its count, but the work stays open; so it does until everything is counted. */
  #keep(): void {
    if (this.#sidecar.status.state !== "running") return;
    const open = (this.#asks ?? 0) + (this.#jobs ?? 0) > 0;
    if (!open && (this.#asks === undefined || this.#jobs === undefined)) return;
    if (open !== this.wasOpen) void this.#state.update(openKey, open);
  }
}
