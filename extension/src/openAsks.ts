import type { TaskEventParams } from "@assent/protocol";
import type { Sidecar } from "./sidecar.ts";

interface TaskState {
  readonly number: number;
  readonly openAsks: number;
}

/** Counts the asks that wait for a person, over all tasks. */
export class OpenAsks {
  readonly #sidecar: Sidecar;
  readonly #onChange: (count: number) => void;
  readonly #tasks = new Map<string, TaskState>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor(sidecar: Sidecar, onChange: (count: number) => void) {
    this.#sidecar = sidecar;
    this.#onChange = onChange;
    this.#unsubscribe = [
      sidecar.onStatus(({ state }) => {
        this.#tasks.clear();
        this.#onChange(this.count);
        if (state === "running") void this.#readAll();
      }),
      sidecar.onNotification((method, params) => {
        if (method !== "task/event") return;
        const { taskId, number, openAsks } = params as TaskEventParams;
        this.#update(taskId, number, openAsks);
      }),
    ];
  }

  get count(): number {
    let count = 0;
    for (const task of this.#tasks.values()) count += task.openAsks;
    return count;
  }

  dispose(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  async #readAll(): Promise<void> {
    try {
      const { tasks } = await this.#sidecar.request("task/list", undefined);
      for (const task of tasks ?? []) this.#update(task.id, task.lastNumber, task.openAsks);
    } catch {
      // The sidecar has ended again; the next one is read when it runs.
    }
  }

  /** Events and the list cross each other on their way: the later of the two counts. */
  #update(taskId: string, number: number, openAsks: number): void {
    if (number < (this.#tasks.get(taskId)?.number ?? 0)) return;
    this.#tasks.set(taskId, { number, openAsks });
    this.#onChange(this.count);
  }
}
