// The tools with one idea each: a task if you like, no task, and the two ways to fail.
// @ts-check

import { integer, ToolError, textResult } from "../../kit/tool.mjs";
import { RpcError } from "../rpc.mjs";

const stepMs = {
  type: "integer",
  title: "Milliseconds a step",
  minimum: 0,
  maximum: 60_000,
  default: 200,
};

/** @type {import("./tool.mjs").Tool} */
const count = {
  name: "count",
  description: "Counts to a number, as a task or while you wait.",
  taskSupport: "optional",
  properties: {
    to: { type: "integer", title: "Count to", minimum: 0, maximum: 1000, default: 5 },
    step_ms: stepMs,
  },
  async run(job, args) {
    const to = integer(args, "to", 5, 1000);
    const ms = integer(args, "step_ms", 200, 60_000);
    for (let i = 1; i <= to; i++) await job.step(`Counted ${i} of ${to}`, ms);
    return textResult(`Counted to ${to}.`);
  },
};

/** @type {import("./tool.mjs").Tool} */
const quick = {
  name: "quick",
  description: "Answers at once, never as a task.",
  taskSupport: "forbidden",
  async run() {
    return textResult("That was quick.");
  },
};

/** @type {import("./tool.mjs").Tool} */
const failLate = {
  name: "fail_late",
  description: "Works for a while, then fails with an error of JSON-RPC.",
  taskSupport: "required",
  properties: { step_ms: stepMs },
  async run(job, args) {
    await job.step("Working, in vain", integer(args, "step_ms", 200, 60_000));
    throw new RpcError(4001, "The train was cancelled.", { train: "IC 523", refund: true });
  },
};

/** @type {import("./tool.mjs").Tool} */
const toolError = {
  name: "tool_error",
  description: "Works for a while, then ends with a result that is an error (isError).",
  taskSupport: "optional",
  properties: { step_ms: stepMs },
  async run(job, args) {
    await job.step("Working, in vain", integer(args, "step_ms", 200, 60_000));
    throw new ToolError("There are no trains on this day.");
  },
};

export const simpleTools = [count, quick, failLate, toolError];
