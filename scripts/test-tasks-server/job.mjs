// What the work of a tool is made of. A job runs from its beginning whenever a process takes it
// over, and what it did before comes from the task's record: every effect has a name.
// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { outstanding } from "./store.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("./store.mjs").Task} Task
 * @typedef {import("./store.mjs").TaskStore} TaskStore
 */

export class Job {
  /**
   * @param {Task} task
   * @param {TaskStore} store
   * @param {AbortSignal} signal aborts when the job is cancelled or given up
   */
  constructor(task, store, signal) {
    this.task = task;
    this.store = store;
    this.signal = signal;
  }

  /**
   * Works for a time, and says on what.
   * @param {string} message the task's statusMessage meanwhile; unique in the job
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
        task.statusMessage = fresh.map(([, request]) => request["params"].message ?? "").join(" ");
        for (const [key, request] of fresh) {
          task.questions[key] = { request, asked: 0, answered: 0, ...(rpcId && { rpcId }) };
        }
      });
    }
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
