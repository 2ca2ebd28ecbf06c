// Runs the jobs of the tasks: starts them, takes them over from an earlier process, gives them
// their answers, cancels them.
// @ts-check
import { setImmediate as immediate } from "node:timers/promises";
import { ToolError, textResult } from "../kit/tool.mjs";
import { Job } from "./job.mjs";
import { errorObject } from "./rpc.mjs";
import { ended, notFound, outstanding } from "./store.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("./store.mjs").Task} Task
 * @typedef {import("./store.mjs").TaskStore} TaskStore
 * @typedef {import("./tools/tool.mjs").Tool} Tool
 */

/** What a client is told of how long a task is kept, in milliseconds, and the most that it may ask for. No task is removed. */
const usualTtlMs = 60 * 60 * 1000;
const longestTtlMs = 24 * usualTtlMs;

export class Jobs {
  /** @type {Map<Task, AbortController>} */
  #running = new Map();
  #tools;
  #pollIntervalMs;

  /**
   * @param {TaskStore} store
   * @param {ReadonlyMap<string, Tool>} tools
   * @param {number} pollIntervalMs
   */
  constructor(store, tools, pollIntervalMs) {
    this.store = store;
    this.#tools = tools;
    this.#pollIntervalMs = pollIntervalMs;
    store.onChange((task) => {
      if (store.gone(task)) this.#abort(task);
    });
  }

  /**
   * Creates the task, on disk if there is a folder, and starts its job.
   * @param {Tool} tool
   * @param {Json} args
   * @param {Json} client its capabilities
   * @param {number} [ttlMs] what the client asked for
   */
  start(tool, args, client, ttlMs = usualTtlMs) {
    const task = this.store.create({
      tool: tool.name,
      args,
      client,
      ttlMs: Math.min(ttlMs, longestTtlMs),
      pollIntervalMs: this.#pollIntervalMs,
    });
    tool.prepare?.(task);
    this.#run(tool, task);
    return task;
  }

  /**
   * Runs a call to its end without a task.
   * @param {Tool} tool
   * @param {Json} args
   * @param {Json} client its capabilities
   * @param {object} call
   * @param {AbortSignal} call.signal
   * @param {(task: Task) => void} call.progressed
   * @param {import("./job.mjs").Inquire} call.inquire
   * @param {import("./requestState.mjs").Kept | undefined} [call.kept] of an earlier round
   * @returns {Promise<Json>}
   */
  async call(tool, args, client, { signal, progressed, inquire, kept }) {
    const called = { tool: tool.name, args, client, ttlMs: null, pollIntervalMs: 0 };
    const task = Object.assign(this.store.blank(called), kept);
    let told = -1;
    const stop = this.store.onChange((changed) => {
      // Progress must increase with each notification.
      if (changed !== task || task.progress <= told) return;
      told = task.progress;
      progressed(task);
    });
    try {
      return await work(tool, new Job(task, this.store, signal, inquire));
    } finally {
      stop();
    }
  }

  /**
   * The task with that id; one of an earlier process is taken over and goes on.
   * @param {unknown} taskId
   * @returns {Task}
   */
  find(taskId) {
    const id = String(taskId);
    const known = this.store.get(id);
    if (known !== undefined) return known;
    const task = this.store.adopt(id);
    if (task === undefined) throw notFound(id);
    const tool = this.#tools.get(task.tool);
    if (tool !== undefined && !ended(task)) this.#run(tool, task);
    return task;
  }

  /**
   * A client looks at the task: the polls of one that vanishes are counted.
   * @param {unknown} taskId
   */
  poll(taskId) {
    const task = this.find(taskId);
    if (task.vanishesAfter !== undefined && task.vanishesAfter-- <= 0) {
      this.store.forget(task.taskId);
      throw notFound(task.taskId);
    }
    return task;
  }

  /**
   * Takes an answer to a question. The first one counts; all are counted. Unknown keys are ignored.
   * @param {Task} task
   * @param {string} key
   * @param {Json} answer
   */
  answer(task, key, answer) {
    const question = Object.hasOwn(task.questions, key) ? task.questions[key] : undefined;
    if (question === undefined || ended(task)) return;
    this.store.change(task, () => {
      question.answered++;
      question.answer ??= answer;
      if (outstanding(task).length === 0) task.status = "working";
    });
  }

  /** @param {Task} task not ended */
  cancel(task) {
    this.#abort(task);
    this.store.change(task, () => {
      task.status = "cancelled";
      task.statusMessage = "The task was cancelled by request.";
    });
  }

  /** Stops all jobs. Their tasks stay on disk. */
  close() {
    for (const abort of this.#running.values()) abort.abort();
    this.store.close();
  }

  /** @param {Task} task */
  #abort(task) {
    this.#running.get(task)?.abort();
  }

  /**
   * @param {Tool} tool
   * @param {Task} task
   */
  #run(tool, task) {
    const abort = new AbortController();
    this.#running.set(task, abort);
    const settle = (/** @type {Json} */ outcome) => {
      this.#running.delete(task);
      // A stopped job, or one without a task, reports to no one.
      if (abort.signal.aborted || this.store.gone(task)) return;
      this.store.change(task, () => {
        task.outcome = outcome;
        task.status = outcome["error"] ? "failed" : "completed";
        task.statusMessage = outcome["error"]?.message ?? "Done.";
      });
    };
    // The client hears of the task before it hears of what the job does.
    immediate()
      .then(() => work(tool, new Job(task, this.store, abort.signal)))
      .then(
        (result) => settle({ result }),
        (error) => settle({ error: errorObject(error) }),
      )
      .catch((error) => console.error(`task ${task.taskId}: ${error.message}`));
  }
}

/**
 * @param {Tool} tool
 * @param {Job} job
 * @returns {Promise<Json>} the CallToolResult
 */
async function work(tool, job) {
  try {
    return await tool.run(job, job.task.args);
  } catch (error) {
    if (error instanceof ToolError) return { ...textResult(error.message), isError: true };
    throw error;
  }
}
