import type {
  OthersChangedParams,
  TaskEventParams,
  UnclaimedChangedParams,
} from "@assent/protocol";
import type { Sidecar } from "./sidecar.ts";

interface TaskState {
  readonly title: string;
  readonly number: number;
  readonly openAsks: number;
}

/** How many asks of a task wait for a person. */
export type TaskCount = Pick<TaskState, "title" | "openAsks">;

/**
 * Counts what waits for a person here: the asks of all tasks, those that no task has yet, and those of workspaces without a
 * window if this is the window that tells of them.
 */
export class OpenAsks {
  readonly #sidecar: Sidecar;
  readonly #onChange: (count: number) => void;
  readonly #tasks = new Map<string, TaskState>();
  #unclaimed = 0;
  #unattended = 0;
  #quiet = false;

  constructor(sidecar: Sidecar, onChange: (count: number) => void) {
    this.#sidecar = sidecar;
    this.#onChange = onChange;
    sidecar.onStatus(({ state }) => {
      this.#tasks.clear();
      this.#unclaimed = 0;
      this.#unattended = 0;
      this.#quiet = false;
      this.#onChange(this.count);
      if (state === "running") void this.#readAll();
    });
    sidecar.onNotification((method, params) => {
      if (method === "ask/unclaimedChanged") {
        this.#unclaimed = (params as UnclaimedChangedParams).count;
        this.#onChange(this.count);
      }
      if (method === "ask/othersChanged") {
        const { unattended = 0, quiet = false } = params as OthersChangedParams;
        this.#unattended = unattended;
        this.#quiet = quiet;
        this.#onChange(this.count);
      }
      if (method !== "task/event") return;
      const { taskId, number, openAsks, event, workspace } = params as TaskEventParams;
      if (workspace !== undefined) return; // of a task that was opened here
      const title = event.type === "taskChanged" ? event.task.title : undefined;
      this.#update(taskId, { number, openAsks, title });
    });
  }

  get count(): number {
    let count = this.#unclaimed + this.#unattended;
    for (const task of this.#tasks.values()) count += task.openAsks;
    return count;
  }

  /** Those that a person has yet to place in a task. */
  get unclaimed(): number {
    return this.#unclaimed;
  }

  /** Those of workspaces without a window, of which this window tells. */
  get unattended(): number {
    return this.#unattended;
  }

  /** Another window of this workspace notifies the person. */
  get quiet(): boolean {
    return this.#quiet;
  }

  /** The tasks that have any, the one with the most first. */
  get byTask(): readonly TaskCount[] {
    return [...this.#tasks.values()]
      .filter(({ openAsks }) => openAsks > 0)
      .sort((a, b) => b.openAsks - a.openAsks);
  }

  async #readAll(): Promise<void> {
    try {
      const { tasks } = await this.#sidecar.request("task/list", undefined);
      for (const { id, title, lastNumber: number, openAsks } of tasks ?? []) {
        this.#update(id, { number, openAsks, title });
      }
    } catch {
      // The sidecar has ended again; the next one is read when it runs.
    }
  }

  /**
   * Events and the list cross each other on their way: the later of the two counts. Few events bring the
   * title, so that it may come with the older of the two.
   */
  #update(taskId: string, said: Omit<TaskState, "title"> & { title: string | undefined }): void {
    const known = this.#tasks.get(taskId);
    if (known !== undefined && said.number < known.number) {
      if (known.title !== "" || said.title === undefined) return;
      this.#tasks.set(taskId, { ...known, title: said.title });
    } else {
      this.#tasks.set(taskId, { ...said, title: said.title ?? known?.title ?? "" });
    }
    this.#onChange(this.count);
  }
}
