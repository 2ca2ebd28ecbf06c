// The building blocks of a tool's work. A job runs from its beginning whenever a process takes it over. Its earlier
// effects come from the task's record, in which every effect has a name.
// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { serves } from "./capabilities.mjs";
import { outstanding } from "./store.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("./store.mjs").Task} Task
 * @typedef {import("./store.mjs").TaskStore} TaskStore
 *
 * Gets the answers to the outstanding questions of a call that is no task, into the record.
 * @typedef {(task: Task) => Promise<void>} Inquire
 */

export class Job {
  /**
   * @param {Task} task
   * @param {TaskStore} store
   * @param {AbortSignal} signal aborts when the job is cancelled or given up
   * @param {Inquire} [inquire] of a call that is not a task; a task's questions are answered by any client that sees it
   */
  constructor(task, store, signal, inquire) {
    this.task = task;
    this.store = store;
    this.signal = signal;
    this.inquire = inquire;
  }

  /**
   * Whether the client that called serves the need.
   * @param {import("./capabilities.mjs").Need} need
   */
  serves(need) {
    return serves(this.task.client, need);
  }

  /**
   * Reports the job's progress. Progress from before a restart is not reported again.
   * @param {string} message
   * @param {number} progress more than before
   * @param {number} total
   */
  tell(message, progress, total) {
    if (progress <= this.task.progress) return;
    this.#change((task) => Object.assign(task, { statusMessage: message, progress, total }));
  }

  /**
   * What the function returned when the job first came here.
   * @template T
   * @param {string} name unique in the job
   * @param {() => T} make of something that is the same as JSON
   * @returns {T}
   */
  recorded(name, make) {
    if (!Object.hasOwn(this.task.done, name)) {
      const value = make();
      this.#change((task) => {
        task.done[name] = value;
      });
    }
    return this.task.done[name];
  }

  /**
   * Works for a time, and says on what.
   * @param {string} message the task's statusMessage during that; unique in the job
   * @param {number} ms
   */
  async step(message, ms) {
    if (message in this.task.done) return;
    this.#change((task) => {
      task.statusMessage = message;
    });
    await sleep(ms, undefined, { signal: this.signal });
    this.#change((task) => {
      task.done[message] = true;
      task.progress++;
    });
  }

  /**
   * Does something that must not happen again.
   * @param {string} name unique in the job
   * @param {(task: Task) => void} effect
   */
  once(name, effect) {
    if (name in this.task.done) return;
    this.#change((task) => {
      effect(task);
      task.done[name] = true;
    });
  }

  /**
   * Asks the client, and waits for all of the answers: results of the requests, or `{error}`.
   * @param {Record<string, Json>} requests by keys that are unique in the job
   * @param {string} [rpcId] the JSON-RPC id to send them with, for a server that reuses ids
   * @returns {Promise<Record<string, Json>>}
   */
  async ask(requests, rpcId) {
    const fresh = Object.entries(requests).filter(([key]) => !(key in this.task.questions));
    if (fresh.length > 0) {
      this.#change((task) => {
        task.status = "input_required";
        // Texts for the model have no message, so the job's last one stays.
        const message = fresh.map(([, request]) => request["params"].message ?? "").join(" ");
        if (message.trim() !== "") task.statusMessage = message;
        for (const [key, request] of fresh) {
          task.questions[key] = { request, asked: 0, answered: 0, ...(rpcId && { rpcId }) };
        }
      });
    }
    if (outstanding(this.task).length > 0) await this.inquire?.(this.task);
    await this.store.until(this.task, (task) => outstanding(task).length === 0, this.signal);
    const answers = Object.keys(requests).map((key) => [key, this.task.questions[key]?.answer]);
    return Object.fromEntries(answers);
  }

  /** @param {(task: Task) => void} change */
  #change(change) {
    this.signal.throwIfAborted();
    this.store.change(this.task, change);
  }
}
