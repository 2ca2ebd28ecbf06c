import type {
  OthersChangedParams,
  TaskEventParams,
  UnattributedChangedParams,
} from "@assent/protocol";
import type { Sidecar } from "./sidecar.ts";

interface TaskState {
  readonly title: string;
  readonly number: number;
  readonly openAsks: number;
}

/** The number of open asks of a task. */
export type TaskCount = Pick<TaskState, "title" | "openAsks">;

/**
 * Counts the open asks for a person here: those of all tasks, unattributed requests, and those of workspaces without a
 * window if this window notifies of them.
 */
export class OpenAsks {
  readonly #sidecar: Sidecar;
  readonly #onChange: (count: number) => void;
  readonly #tasks = new Map<string, TaskState>();
  #unattributed = 0;
  #unattended = 0;
  #quiet = false;
  #isRead = false;

  constructor(sidecar: Sidecar, onChange: (count: number) => void) {
    this.#sidecar = sidecar;
    this.#onChange = onChange;
    sidecar.onStatus(({ state }) => {
      this.#tasks.clear();
      this.#unattributed = 0;
      this.#unattended = 0;
      this.#quiet = false;
      this.#isRead = false;
      this.#onChange(this.count);
      if (state === "running") void this.#readAll();
    });
    sidecar.onNotification((method, params) => {
      if (method === "ask/unattributedChanged") {
        this.#unattributed = (params as UnattributedChangedParams).count;
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
      if (workspace !== undefined) return; // of a task in another workspace
      const title = event.type === "taskChanged" ? event.task.title : undefined;
      if (this.#note(taskId, { number, openAsks, title })) this.#onChange(this.count);
    });
  }

  get count(): number {
    let count = this.#unattributed + this.#unattended;
    for (const task of this.#tasks.values()) count += task.openAsks;
    return count;
  }

  /** Whether all tasks were counted since the sidecar runs. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** The requests that the person has not assigned to a task. */
  get unattributed(): number {
    return this.#unattributed;
  }

  /** The open asks of workspaces without a window, if this window notifies of them. */
  get unattended(): number {
    return this.#unattended;
  }

  /** Whether another window of this workspace notifies the person. */
  get quiet(): boolean {
    return this.#quiet;
  }

  /** The tasks with open asks, most asks first. */
  get byTask(): readonly TaskCount[] {
    return [...this.#tasks.values()]
      .filter(({ openAsks }) => openAsks > 0)
      .sort((a, b) => b.openAsks - a.openAsks);
  }

  async #readAll(): Promise<void> {
    try {
      const { tasks } = await this.#sidecar.request("task/list", undefined);
      for (const { id, title, lastNumber: number, openAsks } of tasks ?? []) {
        this.#note(id, { number, openAsks, title });
      }
      this.#isRead = true;
      this.#onChange(this.count);
    } catch {
      // The sidecar has ended. The next one is read when it runs.
    }
  }

  /**
   * Events and the list can arrive in any order, and the newer of the two counts. Few events have the title, so it may
   * come from the older one. Returns whether that changed something.
   */
  #note(taskId: string, said: Omit<TaskState, "title"> & { title: string | undefined }): boolean {
    const known = this.#tasks.get(taskId);
    if (known !== undefined && said.number < known.number) {
      if (known.title !== "" || said.title === undefined) return false;
      this.#tasks.set(taskId, { ...known, title: said.title });
    } else {
      this.#tasks.set(taskId, { ...said, title: said.title ?? known?.title ?? "" });
    }
    return true;
  }
}
