// The revision 2025-11-25, and 2025-06-18 for a host that has no tasks: sessions, requests in both directions, and tasks in the core
// (basic/utilities/tasks). One object serves one session, on whatever transport.
// @ts-check
import { ClientRequests } from "../kit/clientRequests.mjs";
import { serves } from "./capabilities.mjs";
import { Inquiry } from "./inquiry.mjs";
import { progressOf } from "./progress.mjs";
import {
  codes,
  errorObject,
  failure,
  isObject,
  meta,
  notification,
  RpcError,
  reply,
} from "./rpc.mjs";
import { ended, liesOf, outstanding } from "./store.mjs";
import { called, describe } from "./tools.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("./store.mjs").Task} Task
 * @typedef {import("../kit/service.mjs").Id} Id
 * @typedef {import("../kit/service.mjs").Send} Send
 */

const pageSize = 10;

export class LegacySession {
  /** @type {Json} */
  #capabilities = {};
  #initialized = false;
  /** @type {Map<Id, {abort: AbortController, method: string}>} requests of the client */
  #serving = new Map();
  /** @type {Map<string, Id>} the progress tokens of tasks */
  #progressTokens = new Map();
  /** @type {Map<string, string>} the last notification of each task that this client knows */
  #watched = new Map();
  /** @type {Map<string, string>} by tool, the state of a call that has to be made again */
  #states = new Map();
  /** @type {Set<string>} elicitationIds that this client was told */
  #elicitations = new Set();
  #ends;

  /**
   * @param {import("./served.mjs").Served} host
   * @param {Send} send
   */
  constructor(host, send) {
    this.host = host;
    this.send = send;
    this.requests = new ClientRequests(send);
    this.inquiry = new Inquiry(host.jobs, this.requests, () => this.#capabilities);
    this.#ends = [
      host.jobs.store.onChange((task) => this.#changed(task)),
      host.pages?.onConfirmed((elicitationId) => {
        if (!this.#elicitations.delete(elicitationId)) return;
        send(notification("notifications/elicitation/complete", { elicitationId }));
      }),
    ];
  }

  /** @param {Json} message */
  receive(message) {
    if (message["method"] === undefined) this.requests.settle(message);
    else if (message["id"] !== undefined) void this.#serve(message["id"], message);
    else if (message["method"] === "notifications/cancelled") {
      this.#serving.get(message["params"]?.requestId)?.abort.abort();
    }
  }

  /**
   * The stream of a request is gone, which is no cancellation. Only the wait for a task's result
   * ends: the client waits again when it wants to.
   * @param {Id} id
   */
  dropped(id) {
    const serving = this.#serving.get(id);
    if (serving?.method === "tasks/result") serving.abort.abort();
  }

  close() {
    for (const end of this.#ends) end?.();
    for (const { abort } of this.#serving.values()) abort.abort();
    this.inquiry.close();
    this.requests.close();
  }

  /**
   * @param {Id} id
   * @param {Json} request
   */
  async #serve(id, request) {
    const abort = new AbortController();
    this.#serving.set(id, { abort, method: request["method"] });
    let response;
    try {
      const params = request["params"] ?? {};
      response = reply(id, await this.#answer(id, request["method"], params, abort.signal));
    } catch (error) {
      response = failure(id, error);
    }
    this.#serving.delete(id);
    if (!abort.signal.aborted) this.send(response, id);
  }

  /**
   * @param {Id} id
   * @param {string} method
   * @param {Json} params
   * @param {AbortSignal} signal
   * @returns {Promise<Json>}
   */
  async #answer(id, method, params, signal) {
    if (method === "initialize") return this.#initialize(params);
    if (method === "ping") return {};
    if (!this.#initialized) throw new RpcError(codes.invalidRequest, "initialize comes first");
    const { jobs, tools } = this.host;
    switch (method) {
      case "tools/list":
        return {
          tools: [...tools.values()].map((tool) => ({
            ...describe(tool),
            ...(this.#hasTasks && { execution: { taskSupport: tool.taskSupport } }),
          })),
        };
      case "tools/call":
        return await this.#call(id, params, signal);
      case "tasks/get":
        return view(this.#watch(jobs.poll(params["taskId"])));
      case "tasks/list":
        return this.#list(params["cursor"]);
      case "tasks/result":
        return await this.#result(id, this.#watch(jobs.find(params["taskId"])), signal);
      case "tasks/cancel":
        return this.#cancel(this.#watch(jobs.find(params["taskId"])));
      default: {
        const result = this.host.answer?.(method, params);
        if (result === undefined) throw new RpcError(codes.methodNotFound, `no method ${method}`);
        return result;
      }
    }
  }

  /** Tasks came into the core with 2025-11-25. */
  get #hasTasks() {
    return this.host.legacyVersion >= "2025-11-25";
  }

  /** @param {Json} params */
  #initialize(params) {
    this.#capabilities = isObject(params["capabilities"]) ? params["capabilities"] : {};
    this.#initialized = true;
    const { legacyVersion, capabilities, instructions, serverInfo } = this.host;
    const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
    return {
      protocolVersion: legacyVersion,
      capabilities: { tools: {}, ...(this.#hasTasks && { tasks }), ...capabilities },
      serverInfo,
      ...(instructions !== undefined && { instructions }),
    };
  }

  /**
   * @param {Id} id
   * @param {Json} params
   * @param {AbortSignal} signal
   */
  async #call(id, params, signal) {
    const { tool, args, needs } = called(this.host.tools, params);
    // Where there are no tasks, the member that asks for one means nothing.
    const asTask = this.#hasTasks && isObject(params["task"]);
    if (asTask && tool.taskSupport === "forbidden") {
      throw new RpcError(codes.methodNotFound, `${tool.name} is never a task`);
    }
    if (!asTask && tool.taskSupport === "required") {
      throw new RpcError(codes.methodNotFound, `${tool.name} is always a task: send params.task`);
    }
    const unserved = needs.filter((need) => !serves(this.#capabilities, need));
    if (unserved.length > 0) {
      const what = unserved.join(" and ");
      throw new RpcError(
        codes.invalidParams,
        `${tool.name} asks its client for ${what}, which it does not have: nothing was done`,
      );
    }
    const ready = await this.#before(id, tool, args, signal);
    const token = params["_meta"]?.progressToken;
    if (!asTask) {
      return await this.host.jobs.call(tool, ready, this.#capabilities, {
        signal,
        progressed: (task) => {
          if (token !== undefined) this.send(progressOf(token, task), id);
        },
        inquire: (task) => this.#inquire(task, id, signal),
      });
    }
    const { ttl } = params["task"];
    const task = this.host.jobs.start(
      tool,
      ready,
      this.#capabilities,
      Number.isInteger(ttl) && ttl > 0 ? ttl : undefined,
    );
    if (token !== undefined) this.#progressTokens.set(task.taskId, token);
    this.#watch(task);
    // A CreateTaskResult without its discriminator is one without the member `task`.
    if (task.lies["noResultType"]) return view(task);
    return { task: view(task), _meta: { [meta.immediateResponse]: `${tool.name} has begun.` } };
  }

  /**
   * What a tool asks before it works: in this revision forms are requests of the server, and URLs an
   * error that lists them (URLElicitationRequiredError), after which the client calls again.
   * @param {Id} id
   * @param {import("./tools/tool.mjs").Tool} tool
   * @param {Json} args
   * @param {AbortSignal} signal
   * @returns {Promise<Json>} the arguments to work with
   */
  async #before(id, tool, args, signal) {
    /** @type {Json} */
    const answers = {};
    while (tool.before !== undefined) {
      const state = this.#states.get(tool.name);
      const next = await tool.before({ args, answers, state, signal });
      if ("args" in next) {
        this.#states.delete(tool.name);
        return next.args;
      }
      const { requests, state: nextState } = next.asking;
      if (nextState !== undefined) this.#states.set(tool.name, nextState);
      const elicitations = Object.values(requests).map((request) => request["params"]);
      if (elicitations.every(({ mode }) => mode === "url")) {
        for (const { elicitationId } of elicitations) this.#elicitations.add(elicitationId);
        throw new RpcError(codes.urlElicitationRequired, "Confirm these pages, then call again.", {
          elicitations,
        });
      }
      for (const [key, { method, params }] of Object.entries(requests)) {
        answers[key] = await this.requests.send(method, params, id).answer;
      }
    }
    return args;
  }

  /**
   * Asks the questions of a call that is no task, on the stream of the call. A refusal is an answer: the
   * tool says what it makes of it.
   * @param {Task} task
   * @param {Id} about
   * @param {AbortSignal} signal
   */
  async #inquire(task, about, signal) {
    await Promise.all(
      outstanding(task).map(async ([key, { request }]) => {
        const { id, answer } = this.requests.send(request["method"], request["params"], about);
        const withdraw = () => this.requests.withdraw(id);
        signal.addEventListener("abort", withdraw);
        let result;
        try {
          result = await answer;
        } catch (error) {
          if (!(error instanceof RpcError)) throw error;
          result = { error: errorObject(error) };
        } finally {
          signal.removeEventListener("abort", withdraw);
        }
        this.host.jobs.answer(task, key, result);
      }),
    );
  }

  /** @param {unknown} cursor the id of the last task of the page before */
  #list(cursor) {
    const all = this.host.jobs.store.list();
    const start = cursor === undefined ? 0 : all.findIndex(({ taskId }) => taskId === cursor) + 1;
    if (cursor !== undefined && start === 0) {
      throw new RpcError(codes.invalidParams, `no cursor ${cursor}`);
    }
    const page = all.slice(start, start + pageSize);
    const more = start + pageSize < all.length && { nextCursor: page.at(-1)?.taskId };
    return { tasks: page.map(view), ...more };
  }

  /**
   * Waits for the task's end, and asks its questions meanwhile, on the stream of this request.
   * @param {Id} id
   * @param {Task} task
   * @param {AbortSignal} signal
   */
  async #result(id, task, signal) {
    const stop = this.inquiry.begin(task, id);
    try {
      await this.host.jobs.store.until(task, ended, signal);
    } finally {
      stop();
    }
    const { outcome } = task;
    if (outcome === undefined) throw new RpcError(codes.invalidRequest, "the task was cancelled");
    const { error, result } = outcome;
    if (error !== undefined) throw new RpcError(error.code, error.message, error.data);
    return { ...result, _meta: { [meta.relatedTask]: { taskId: task.taskId } } };
  }

  /** @param {Task} task */
  #cancel(task) {
    if (ended(task)) {
      throw new RpcError(codes.invalidParams, `the task has already ended: ${view(task).status}`);
    }
    this.host.jobs.cancel(task);
    return view(task);
  }

  /**
   * The client knows of the task from now on, and hears of its changes.
   * @param {Task} task
   */
  #watch(task) {
    if (!this.#watched.has(task.taskId)) this.#watched.set(task.taskId, key(task));
    return task;
  }

  /** @param {Task} task */
  #changed(task) {
    const last = this.#watched.get(task.taskId);
    if (this.host.jobs.store.gone(task)) {
      this.#watched.delete(task.taskId);
      this.#progressTokens.delete(task.taskId);
      return;
    }
    if (last === undefined || last === key(task)) return;
    this.#watched.set(task.taskId, key(task));
    this.send(notification("notifications/tasks/status", view(task)));
    const token = this.#progressTokens.get(task.taskId);
    if (token !== undefined && !ended(task)) {
      const { taskId } = task;
      this.send(progressOf(token, task, { [meta.relatedTask]: { taskId } }));
    }
  }
}

/**
 * The task as this revision shows it: a result with isError is a failure.
 * @param {Task} task
 */
function view(task) {
  const { taskId, statusMessage, createdAt, lastUpdatedAt } = task;
  const failed = task.outcome?.["result"]?.isError === true;
  return {
    taskId,
    status: failed ? "failed" : task.status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttl: task.ttlMs,
    pollInterval: task.pollIntervalMs,
    ...liesOf(task, ["createdAt", "lastUpdatedAt", "ttl", "pollInterval"]),
  };
}

/**
 * What of a task is worth a notification when it changes.
 * @param {Task} task
 */
function key(task) {
  return `${task.status} ${task.progress} ${task.statusMessage}`;
}
