// Tasks as a client should never see them, one kind of bad input each.
// @ts-check
import { integer, ToolError, textResult } from "../../kit/tool.mjs";
import { form } from "./tool.mjs";

const yearMs = 365 * 24 * 60 * 60 * 1000;

/**
 * Changes the task before it is shown, for each kind. The two revisions name the members differently, so a false
 * duration is set under both names.
 * @type {Record<string, (task: import("../store.mjs").Task) => void>}
 */
const kinds = {
  never_ends() {},
  ttl_zero: (task) => Object.assign(task.lies, { ttl: 0, ttlMs: 0 }),
  ttl_null: (task) => Object.assign(task.lies, { ttl: null, ttlMs: null }),
  poll_1ms: (task) => Object.assign(task.lies, { pollInterval: 1, pollIntervalMs: 1 }),
  poll_year: (task) => Object.assign(task.lies, { pollInterval: yearMs, pollIntervalMs: yearMs }),
  same_key_twice() {},
  vanishes(task) {
    task.vanishesAfter = 1;
  },
  no_result_type: (task) => Object.assign(task.lies, { noResultType: true }),
  huge_result() {},
  wrong_clock(task) {
    task.lies["createdAt"] = "2999-12-31T23:59:59Z";
    task.lies["lastUpdatedAt"] = "1970-01-01T00:00:00Z";
  },
};

/** @type {import("./tool.mjs").Tool} */
export const misbehave = {
  name: "misbehave",
  description: "A task that breaks the rules, to see what its client makes of it.",
  taskSupport: "required",
  properties: {
    kind: { type: "string", title: "How", enum: Object.keys(kinds) },
    step_ms: {
      type: "integer",
      title: "Milliseconds a step, of three",
      minimum: 0,
      maximum: 60_000,
      default: 200,
    },
    bytes: {
      type: "integer",
      title: "Size of a huge result",
      minimum: 0,
      maximum: 64 * 1024 * 1024,
      default: 16 * 1024 * 1024,
    },
  },
  needs: (args) => (args["kind"] === "same_key_twice" ? ["form"] : []),
  prepare(task) {
    const kind = String(task.args["kind"]);
    if (Object.hasOwn(kinds, kind)) kinds[kind]?.(task);
  },
  async run(job, args) {
    const kind = String(args["kind"]);
    if (!Object.hasOwn(kinds, kind)) {
      throw new ToolError(`kind is one of ${Object.keys(kinds).join(", ")}, not ${kind}`);
    }
    const ms = integer(args, "step_ms", 200, 60_000);
    const bytes = integer(args, "bytes", 16 * 1024 * 1024, 64 * 1024 * 1024);
    for (let i = 1; i <= 3; i++) await job.step(`Misbehaving (${i} of 3)`, ms);
    switch (kind) {
      case "never_ends":
        await job.store.until(job.task, () => false, job.signal);
        break;
      case "same_key_twice":
        return textResult(JSON.stringify(await sameKeyTwice(job)));
      case "huge_result":
        return textResult("x".repeat(bytes));
    }
    return textResult(`Misbehaved: ${kind}.`);
  },
};

/**
 * Two different questions under one key and, in 2025-11-25, with one JSON-RPC id.
 * @param {import("../job.mjs").Job} job
 */
async function sameKeyTwice(job) {
  const answers = [];
  for (const nth of ["first", "second"]) {
    job.once(`no answer to the ${nth}`, (task) => {
      delete task.questions["same"];
    });
    const request = form(`The ${nth} question`, { [nth]: { type: "string", title: nth } });
    const { same } = await job.ask({ same: request }, `same-${job.task.taskId}`);
    job.once(`the ${nth} answer`, (task) => {
      task.done[nth] = same;
    });
    answers.push(job.task.done[nth]);
  }
  return answers;
}
