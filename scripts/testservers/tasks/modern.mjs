// The revision 2026-07-28: each request carries all that it needs, and tasks are an extension
// (io.modelcontextprotocol/tasks, SEP-2663).
// @ts-check
import { missingCapability } from "../kit/meta.mjs";
import { cacheable, discovered } from "../kit/modern.mjs";
import { called } from "../kit/tool.mjs";
import { demand, needOf, serves } from "./capabilities.mjs";
import { progressOf } from "./progress.mjs";
import { seal, unseal } from "./requestState.mjs";
import { codes, isObject, meta, notification, RpcError, tasksExtension } from "./rpc.mjs";
import { ended, liesOf, outstanding } from "./store.mjs";
import { describe } from "./tools.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("./host.mjs").ToolHost} Host
 * @typedef {import("./store.mjs").Task} Task
 *
 * A request in service.
 * @typedef {object} Context
 * @property {Host} host
 * @property {string | number} id
 * @property {string} method
 * @property {Json} params
 * @property {Json} capabilities the client's, for this request
 * @property {boolean} tasks whether the client declared the extension
 * @property {(message: Json) => void} notify sends a notification that belongs to the request
 * @property {AbortSignal} signal aborts when the client cancels
 */

/** @type {Record<string, (context: Context) => Promise<Json> | Json>} */
const methods = {
  "server/discover": ({ host: { about } }) =>
    discovered(
      about.serverInfo,
      { extensions: { [tasksExtension]: {} }, ...about.capabilities },
      about.instructions,
    ),
  "tools/list": ({ host }) => ({ tools: [...host.tools.values()].map(describe), ...cacheable }),
  "tools/call": call,
  "tasks/get"(context) {
    demandTasks(context);
    return view(context.host.jobs.poll(context.params["taskId"]), context);
  },
  "tasks/update"(context) {
    demandTasks(context);
    const { host, params } = context;
    const task = host.jobs.find(params["taskId"]);
    if (!isObject(params["inputResponses"])) {
      throw new RpcError(codes.invalidParams, "inputResponses is no object");
    }
    for (const [key, answer] of Object.entries(params["inputResponses"])) {
      host.jobs.answer(task, key, answer);
    }
    return {};
  },
  "tasks/cancel"(context) {
    demandTasks(context);
    const task = context.host.jobs.find(context.params["taskId"]);
    if (!ended(task)) context.host.jobs.cancel(task);
    return {};
  },
  "subscriptions/listen": listen,
};

/**
 * The result of a request; undefined for an unknown method.
 * @param {Host} host
 * @param {Omit<Context, "host" | "tasks">} request
 * @returns {Promise<Json> | Json | undefined}
 */
export function answerModern(host, request) {
  const { method, params, capabilities } = request;
  const answer = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (answer === undefined) return host.answer(method, params);
  const tasks = capabilities["extensions"]?.[tasksExtension] !== undefined;
  return answer({ ...request, host, tasks });
}

/** @param {Context} context */
async function call({ host, params, capabilities, tasks, notify, signal }) {
  const { tool, args } = called(host.tools, params);
  if (tool.taskSupport === "required" && !tasks) {
    throw missingCapability({ extensions: { [tasksExtension]: {} } });
  }
  demand(capabilities, tool.needs?.(args) ?? []);
  let ready = args;
  if (tool.before !== undefined) {
    const answers = isObject(params["inputResponses"]) ? params["inputResponses"] : {};
    const state = params["requestState"];
    const next = await tool.before({ args, answers, state, signal });
    if ("asking" in next) return inputRequired(next.asking);
    ready = next.args;
  }
  if (tool.taskSupport !== "forbidden" && tasks) {
    const task = host.jobs.start(tool, ready, capabilities);
    return { ...base(task), resultType: task.lies["noResultType"] ? undefined : "task" };
  }
  const token = params["_meta"]?.progressToken;
  try {
    return await host.jobs.call(tool, ready, capabilities, {
      signal,
      progressed: (task) => {
        if (token !== undefined) notify(progressOf(token, task));
      },
      inquire: async (task) => {
        throw new Unanswered(task);
      },
      kept: tool.before === undefined ? unseal(host.about.stateKey, params) : undefined,
    });
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    const open = outstanding(error.task).map(([key, { request }]) => [key, request]);
    const state = seal(host.about.stateKey, params, error.task);
    return inputRequired({ requests: Object.fromEntries(open), state });
  }
}

/** A call that is no task has questions: they are its result, and it is made again with the answers. */
class Unanswered extends Error {
  /** @param {Task} task */
  constructor(task) {
    super("the call has questions");
    this.task = task;
  }
}

/** @param {import("./tools/tool.mjs").Asking} asking */
function inputRequired({ requests, state }) {
  const inputRequests = Object.entries(requests).map(([key, { method, params }]) => {
    // Elicitations have no ids in this revision.
    const { elicitationId: _, ...rest } = params;
    return [key, { method, params: rest }];
  });
  return {
    resultType: "input_required",
    inputRequests: Object.fromEntries(inputRequests),
    ...(state !== undefined && { requestState: state }),
  };
}

/**
 * Notifies of the tasks until the client cancels or the server ends (basic/patterns/subscriptions).
 * @param {Context} context
 */
async function listen(context) {
  const { host, id, params, signal } = context;
  const wanted = params["notifications"]?.taskIds;
  const _meta = { [meta.subscriptionId]: id };
  if (wanted !== undefined) demandTasks(context);
  /** @type {Map<string, string>} the last notification of each task */
  const told = new Map();
  /** @type {Task[]} */
  const tasks = [];
  for (const taskId of Array.isArray(wanted) ? wanted.slice(0, 1000) : []) {
    try {
      tasks.push(host.jobs.find(taskId));
    } catch (error) {
      // A task that is not known is left out of the acknowledgement.
      if (!(error instanceof RpcError)) throw error;
    }
  }
  const taskIds = tasks.map(({ taskId }) => taskId);
  context.notify(
    notification("notifications/subscriptions/acknowledged", {
      _meta,
      notifications: wanted === undefined ? {} : { taskIds },
    }),
  );
  const tell = (/** @type {Task} */ task) => {
    if (!taskIds.includes(task.taskId) || host.jobs.store.gone(task)) return;
    const state = view(task, context);
    const { lastUpdatedAt: _, ...key } = state;
    if (told.get(task.taskId) === JSON.stringify(key)) return;
    told.set(task.taskId, JSON.stringify(key));
    context.notify(notification("notifications/tasks", { _meta, ...state }));
  };
  const stop = host.jobs.store.onChange(tell);
  // What changed before the subscription would otherwise be missed.
  for (const task of tasks) tell(task);
  const over = AbortSignal.any([signal, host.closing]);
  await new Promise((resolve) => {
    over.addEventListener("abort", resolve, { once: true });
    if (over.aborted) resolve(undefined);
  });
  stop();
  return { _meta };
}

/** @param {Context} context */
function demandTasks({ tasks }) {
  if (!tasks) throw missingCapability({ extensions: { [tasksExtension]: {} } });
}

/**
 * The task as tasks/get and notifications/tasks show it (DetailedTask).
 * @param {Task} task
 * @param {Context} context
 */
function view(task, { host, capabilities }) {
  /** @type {Json} */
  const detailed = { ...base(task), ...task.outcome };
  if (task.status !== "input_required") return detailed;
  const open = outstanding(task).filter(([, { request }]) => serves(capabilities, needOf(request)));
  const unseen = open.filter(([, question]) => question.asked === 0);
  if (unseen.length > 0) {
    host.jobs.store.change(task, () => {
      for (const [, question] of unseen) question.asked = 1;
    });
  }
  detailed["inputRequests"] = Object.fromEntries(open.map(([key, { request }]) => [key, request]));
  return detailed;
}

/** @param {Task} task */
function base(task) {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt } = task;
  return {
    taskId,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttlMs: task.ttlMs,
    pollIntervalMs: task.pollIntervalMs,
    ...liesOf(task, ["createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"]),
  };
}
