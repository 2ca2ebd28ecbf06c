// The revision 2025-11-25, and 2025-06-18 for a host without tasks: sessions, requests in both directions, and tasks in
// the core (basic/utilities/tasks). One object serves one session, on any transport.
// @ts-check
import { LegacySession } from "../kit/legacySession.mjs";
import { called } from "../kit/tool.mjs";
import { serves } from "./capabilities.mjs";
import { Inquiry } from "./inquiry.mjs";
import { progressOf } from "./progress.mjs";
import { codes, isObject, meta, notification, RpcError } from "./rpc.mjs";
import { ended, liesOf, outstanding } from "./store.mjs";
import { describe } from "./tools.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("./store.mjs").Task} Task
 * @typedef {import("../kit/service.mjs").Id} Id
 * @typedef {import("./host.mjs").ToolHost} ToolHost
 * @typedef {import("../kit/legacySession.mjs").Server} Server
 */

const pageSize = 10;

/**
 * Begins a session.
 * @param {ToolHost} host
 * @param {import("../kit/service.mjs").Send} send
 */
export function openLegacy(host, send) {
  return new LegacySession(send, (session) => new LegacyTasks(host, session));
}

/** @implements {Server} */
class LegacyTasks {
  /** The client waits again when it wants to. */
  waits = new Set(["tasks/result"]);
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
   * @param {ToolHost} host
   * @param {LegacySession} session
   */
  constructor(host, session) {
    this.host = host;
    this.session = session;
    this.inquiry = new Inquiry(host.jobs, session.requests, () => session.capabilities);
    this.#ends = [
      host.jobs.store.onChange((task) => this.#changed(task)),
      host.pages?.onConfirmed((elicitationId) => {
        if (!this.#elicitations.delete(elicitationId)) return;
        session.send(notification("notifications/elicitation/complete", { elicitationId }));
      }),
    ];
  }

  close() {
    for (const end of this.#ends) end?.();
    this.inquiry.close();
  }

  /**
   * @param {Id} id
   * @param {string} method
   * @param {Json} params
   * @param {AbortSignal} signal
   */
  answer(id, method, params, signal) {
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
        return this.#call(id, params, signal);
      case "tasks/get":
        return view(this.#watch(jobs.poll(params["taskId"])));
      case "tasks/list":
        return this.#list(params["cursor"]);
      case "tasks/result":
        return this.#result(id, this.#watch(jobs.find(params["taskId"])), signal);
      case "tasks/cancel":
        return this.#cancel(this.#watch(jobs.find(params["taskId"])));
      default:
        return this.host.answer(method, params);
    }
  }

  /** Tasks came into the core with 2025-11-25. */
  get #hasTasks() {
    return this.host.legacyVersion >= "2025-11-25";
  }

  initialize() {
    const { legacyVersion, capabilities, instructions, serverInfo } = this.host.about;
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
    const { tool, args } = called(this.host.tools, params);
    const needs = tool.needs?.(args) ?? [];
    // Without support for tasks, the member that requests one is ignored.
    const asTask = this.#hasTasks && isObject(params["task"]);
    if (asTask && tool.taskSupport === "forbidden") {
      throw new RpcError(codes.methodNotFound, `${tool.name} is never a task`);
    }
    if (!asTask && tool.taskSupport === "required") {
      throw new RpcError(codes.methodNotFound, `${tool.name} is always a task: send params.task`);
    }
    const unserved = needs.filter((need) => !serves(this.session.capabilities, need));
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
      return await this.host.jobs.call(tool, ready, this.session.capabilities, {
        signal,
        progressed: (task) => {
          if (token !== undefined) this.session.send(progressOf(token, task), id);
        },
        inquire: (task) => this.#inquire(task, id, signal),
      });
    }
    const { ttl } = params["task"];
    const task = this.host.jobs.start(
      tool,
      ready,
      this.session.capabilities,
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
        answers[key] = await this.session.requests.send(method, params, id).answer;
      }
    }
    return args;
  }

  /**
   * Asks the questions of a call that is not a task, on the stream of the call. A refusal is an answer, which the tool
   * interprets.
   * @param {Task} task
   * @param {Id} about
   * @param {AbortSignal} signal
   */
  async #inquire(task, about, signal) {
    await Promise.all(
      outstanding(task).map(async ([key, { request }]) => {
        const { method, params } = request;
        const outcome = await this.session.ask(method, params, about, signal);
        this.host.jobs.answer(task, key, "error" in outcome ? outcome : outcome.result);
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
   * Waits for the task's end, and asks its questions in the meantime, on the stream of this request.
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
    this.session.send(notification("notifications/tasks/status", view(task)));
    const token = this.#progressTokens.get(task.taskId);
    if (token !== undefined && !ended(task)) {
      const { taskId } = task;
      this.session.send(progressOf(token, task, { [meta.relatedTask]: { taskId } }));
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
