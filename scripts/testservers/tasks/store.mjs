// The tasks: their records, their observers, and a file for each, so that a task outlives its process.
// @ts-check
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codes, RpcError } from "./rpc.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 *
 * A question of a task to the client. A question without an answer is outstanding.
 * @typedef {object} Question
 * @property {Json} request method and params, as the client gets them
 * @property {number} asked how often it was sent; once for all polls of 2026-07-28
 * @property {number} answered how often an answer arrived; the first one counts
 * @property {Json} [answer]
 * @property {string} [rpcId] the JSON-RPC id to send it with, for a server that reuses ids
 *
 * Everything about a task, as it is on disk. The views of the two revisions are made from it.
 * @typedef {object} Task
 * @property {string} taskId
 * @property {string} owner the process that works on it
 * @property {string} tool
 * @property {Json} args
 * @property {"working" | "input_required" | "completed" | "failed" | "cancelled"} status
 * @property {string} [statusMessage]
 * @property {string} createdAt ISO 8601
 * @property {string} lastUpdatedAt ISO 8601
 * @property {number | null} ttlMs
 * @property {number} pollIntervalMs
 * @property {number} progress steps done
 * @property {number} [total] all steps, if their number is known
 * @property {Json} client the capabilities of the client that called
 * @property {Json} done results of the job's steps by their names
 * @property {Record<string, Question>} questions
 * @property {Json} [outcome] `result` or `error`, once the job has ended
 * @property {Json} lies members that the views show in place of the true ones
 * @property {number} [vanishesAfter] polls after which the task is gone
 */

/**
 * Tasks in memory and, if there is a folder, a file for each. A process that is asked for another process's task takes
 * it over: after a host was killed, a new process starts while the earlier one may still be ending. The earlier one
 * notices at its next request or change, and releases the task.
 */
export class TaskStore {
  #self = randomUUID();
  /** @type {Map<string, Task>} */
  #tasks = new Map();
  /** @type {Set<(task: Task) => void>} */
  #listeners = new Set();
  /** @type {WeakSet<Task>} */
  #dropped = new WeakSet();
  #folder;

  /** @param {string | undefined} folder */
  constructor(folder) {
    this.#folder = folder;
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
  }

  /**
   * @param {Pick<Task, "tool" | "args" | "client" | "ttlMs" | "pollIntervalMs">} what
   * @returns {Task}
   */
  create(what) {
    const task = this.blank(what);
    this.#tasks.set(task.taskId, task);
    this.#save(task);
    return task;
  }

  /**
   * A task that cannot be looked up: the state of a call that is answered when it is done.
   * @param {Pick<Task, "tool" | "args" | "client" | "ttlMs" | "pollIntervalMs">} what
   * @returns {Task}
   */
  blank(what) {
    const now = new Date().toISOString();
    return {
      taskId: randomUUID(),
      owner: this.#self,
      status: "working",
      createdAt: now,
      lastUpdatedAt: now,
      progress: 0,
      done: {},
      questions: {},
      lies: {},
      ...what,
    };
  }

  /**
   * The task of this process with that id; not one that another process took over.
   * @param {string} taskId
   */
  get(taskId) {
    const task = this.#tasks.get(taskId);
    if (task !== undefined && this.#taken(task)) this.#drop(taskId);
    return this.#tasks.get(taskId);
  }

  /**
   * Takes over the task of another process; undefined if there is none.
   * @param {string} taskId
   */
  adopt(taskId) {
    const task = this.#read(taskId);
    if (task === undefined) return undefined;
    task.owner = this.#self;
    this.#write(task);
    this.#tasks.set(task.taskId, task);
    return task;
  }

  /**
   * All tasks, of other processes too, the oldest first.
   * @returns {Task[]}
   */
  list() {
    const tasks = new Map(this.#tasks);
    for (const name of this.#folder === undefined ? [] : readdirSync(this.#folder)) {
      const taskId = name.replace(/\.json$/, "");
      const task = tasks.has(taskId) ? undefined : this.#read(taskId);
      if (task !== undefined) tasks.set(taskId, task);
    }
    const key = (/** @type {Task} */ task) => `${task.createdAt} ${task.taskId}`;
    return [...tasks.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }

  /**
   * Changes a task, on disk before anyone is told. Throws if the task belongs to another process by now.
   * @param {Task} task
   * @param {(task: Task) => void} change
   */
  change(task, change) {
    if (this.gone(task)) throw notFound(task.taskId);
    change(task);
    task.lastUpdatedAt = new Date().toISOString();
    if (this.#tasks.get(task.taskId) === task) this.#save(task);
    this.#tell(task);
  }

  /**
   * Deletes a task, and tells those who wait for it.
   * @param {string} taskId
   */
  forget(taskId) {
    if (this.#folder !== undefined) rmSync(this.#file(taskId), { force: true });
    this.#drop(taskId);
  }

  /**
   * Whether the task was forgotten, or went to another process.
   * @param {Task} task
   */
  gone(task) {
    return this.#dropped.has(task);
  }

  /**
   * Calls back after each change of any task, and when one is gone; returns how to end that.
   * @param {(task: Task) => void} listener
   */
  onChange(listener) {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /**
   * Waits until the condition holds; throws when the task is gone or the signal aborts.
   * @param {Task} task
   * @param {(task: Task) => boolean} condition
   * @param {AbortSignal} signal
   * @returns {Promise<void>}
   */
  async until(task, condition, signal) {
    signal.throwIfAborted();
    if (condition(task)) return;
    /** @type {(() => void)[]} */
    const ends = [];
    try {
      await new Promise((resolve, reject) => {
        const abort = () => reject(signal.reason);
        signal.addEventListener("abort", abort);
        ends.push(() => signal.removeEventListener("abort", abort));
        ends.push(
          this.onChange((changed) => {
            if (changed !== task) return;
            if (condition(task)) resolve(undefined);
            else if (this.gone(task)) reject(notFound(task.taskId));
          }),
        );
      });
    } finally {
      for (const end of ends) end();
    }
  }

  /** Lets go of all tasks; their files stay. */
  close() {
    this.#listeners.clear();
    this.#tasks.clear();
  }

  /** @param {string} taskId */
  #drop(taskId) {
    const task = this.#tasks.get(taskId);
    this.#tasks.delete(taskId);
    if (task === undefined) return;
    this.#dropped.add(task);
    this.#tell(task);
  }

  /** @param {Task} task */
  #tell(task) {
    for (const listener of [...this.#listeners]) listener(task);
  }

  /** @param {Task} task */
  #save(task) {
    if (this.#taken(task)) {
      this.#drop(task.taskId);
      throw notFound(task.taskId);
    }
    this.#write(task);
  }

  /** @param {Task} task */
  #taken(task) {
    const owner = this.#read(task.taskId)?.owner;
    return owner !== undefined && owner !== this.#self;
  }

  /** @param {Task} task */
  #write(task) {
    if (this.#folder === undefined) return;
    const file = this.#file(task.taskId);
    // A different name for each process, and a rename, so that no one reads an incomplete file.
    writeFileSync(`${file}.${this.#self}`, JSON.stringify(task));
    renameSync(`${file}.${this.#self}`, file);
  }

  /**
   * @param {string} taskId as a client sent it
   * @returns {Task | undefined}
   */
  #read(taskId) {
    // The id becomes a file name, so nothing but an id of ours may pass.
    if (this.#folder === undefined || !/^[0-9a-f-]{36}$/.test(taskId)) return undefined;
    let text;
    try {
      text = readFileSync(this.#file(taskId), "utf8");
    } catch {
      return undefined;
    }
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new Error(`task file ${this.#file(taskId)} is damaged, delete it: ${error}`);
    }
  }

  /** @param {string} taskId */
  #file(taskId) {
    return join(this.#folder ?? "", `${taskId}.json`);
  }
}

/** @param {string} taskId */
export function notFound(taskId) {
  return new RpcError(codes.invalidParams, `no task ${taskId}: it is gone or never was`);
}

/** @param {Task} task */
export function ended(task) {
  return task.outcome !== undefined || task.status === "cancelled";
}

/** @param {Task} task */
export function outstanding(task) {
  return Object.entries(task.questions).filter(([, { answer }]) => answer === undefined);
}

/**
 * What a view shows in place of the truth.
 * @param {Task} task
 * @param {readonly string[]} names the members that the view has
 */
export function liesOf(task, names) {
  return Object.fromEntries(Object.entries(task.lies).filter(([name]) => names.includes(name)));
}
