// Brings the questions of tasks to a client of 2025-11-25: each on the stream of a tasks/result,
// tagged with its task, and as a task of the client's own where the client offers that.
// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { needOf } from "./capabilities.mjs";
import { meta, RpcError } from "./rpc.mjs";
import { ended, outstanding } from "./store.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("./store.mjs").Task} Task
 * @typedef {import("../kit/service.mjs").Id} Id
 */

/** Milliseconds between polls of a client's task. The client's suggestion is ignored. */
const shortestPollMs = 20;
const longestPollMs = 5000;
/** What this server asks a client to keep its task for. */
const clientTaskTtlMs = 24 * 60 * 60 * 1000;

export class Inquiry {
  /** @type {Map<string, {about: Id, abort: AbortController}>} questions on their way, by name */
  #open = new Map();
  /** @type {Set<() => void>} one for each tasks/result that waits */
  #asking = new Set();
  #capabilities;

  /**
   * @param {import("./jobs.mjs").Jobs} jobs
   * @param {import("../kit/clientRequests.mjs").ClientRequests} requests
   * @param {() => Json} capabilities the client's
   */
  constructor(jobs, requests, capabilities) {
    this.jobs = jobs;
    this.requests = requests;
    this.#capabilities = capabilities;
  }

  /**
   * Asks the task's present and future questions on the stream of a tasks/result. Returns a function that ends that. An
   * unanswered question is asked again on the next stream, because the client may not have seen it. The first answer
   * counts.
   * @param {Task} task
   * @param {Id} about
   */
  begin(task, about) {
    const ask = () => {
      if (ended(task) || this.jobs.store.gone(task)) {
        this.#withdraw(task);
        return;
      }
      for (const [key] of outstanding(task)) {
        if (!this.#open.has(name(task, key))) void this.#ask(task, key, about);
      }
    };
    const stop = this.jobs.store.onChange((changed) => {
      if (changed === task) ask();
    });
    this.#asking.add(ask);
    ask();
    return () => {
      stop();
      this.#asking.delete(ask);
      for (const [question, open] of this.#open) {
        if (open.about === about) this.#open.delete(question);
      }
      for (const other of this.#asking) other();
    };
  }

  close() {
    for (const { abort } of this.#open.values()) abort.abort();
    this.#open.clear();
  }

  /** @param {Task} task */
  #withdraw(task) {
    for (const [question, { abort }] of this.#open) {
      if (!question.startsWith(task.taskId)) continue;
      this.#open.delete(question);
      abort.abort();
    }
  }

  /**
   * @param {Task} task
   * @param {string} key
   * @param {Id} about
   */
  async #ask(task, key, about) {
    const question = task.questions[key];
    if (question === undefined) return;
    const abort = new AbortController();
    const open = { about, abort };
    this.#open.set(name(task, key), open);
    this.jobs.store.change(task, () => {
      question.asked++;
    });
    let answer;
    try {
      answer = await this.#send(task.taskId, question, about, abort.signal);
    } catch (error) {
      // Withdrawn, or the session has ended: that is no answer.
      if (!(error instanceof RpcError)) return;
      answer = { error: { code: error.code, message: error.message } };
    }
    if (this.#open.get(name(task, key)) === open) this.#open.delete(name(task, key));
    if (!this.jobs.store.gone(task)) this.jobs.answer(task, key, answer);
  }

  /**
   * @param {string} taskId
   * @param {import("./store.mjs").Question} question
   * @param {Id} about
   * @param {AbortSignal} signal
   * @returns {Promise<Json>}
   */
  async #send(taskId, { request, rpcId }, about, signal) {
    const tag = { _meta: { [meta.relatedTask]: { taskId } } };
    const kinds = this.#capabilities()["tasks"]?.requests;
    const offers =
      needOf(request) === "sampling" ? kinds?.sampling?.createMessage : kinds?.elicitation?.create;
    const params = {
      ...request["params"],
      ...tag,
      ...(offers !== undefined && { task: { ttl: clientTaskTtlMs } }),
    };
    const answer = await this.#request(request["method"], params, about, signal, rpcId);
    if (offers === undefined || answer["task"] === undefined) return answer;
    return await this.#clientTask(answer["task"], about, signal);
  }

  /**
   * Polls a task of the client to its end, and gets its result.
   * @param {Json} task
   * @param {Id} about
   * @param {AbortSignal} signal
   */
  async #clientTask(task, about, signal) {
    const params = { taskId: task["taskId"] };
    try {
      let state = task;
      while (state["status"] === "working") {
        const wait = Number(state["pollInterval"] ?? 500);
        const bounded = Math.min(Math.max(wait || 0, shortestPollMs), longestPollMs);
        await sleep(bounded, undefined, { signal });
        state = await this.#request("tasks/get", params, about, signal);
      }
      return await this.#request("tasks/result", params, about, signal);
    } catch (error) {
      if (signal.aborted && this.#capabilities()["tasks"]?.cancel !== undefined) {
        this.requests.send("tasks/cancel", params).answer.catch(() => {
          // The client's task had ended, or the client has gone: nothing is left to cancel.
        });
      }
      throw error;
    }
  }

  /**
   * A request that is withdrawn when the signal aborts.
   * @param {string} method
   * @param {Json} params
   * @param {Id} about
   * @param {AbortSignal} signal
   * @param {Id} [rpcId]
   */
  async #request(method, params, about, signal, rpcId) {
    const { id, answer } = this.requests.send(method, params, about, rpcId);
    const withdraw = () => this.requests.withdraw(id);
    signal.addEventListener("abort", withdraw);
    try {
      return await answer;
    } finally {
      signal.removeEventListener("abort", withdraw);
    }
  }
}

/**
 * @param {Task} task
 * @param {string} key
 */
function name(task, key) {
  return `${task.taskId} ${key}`;
}
