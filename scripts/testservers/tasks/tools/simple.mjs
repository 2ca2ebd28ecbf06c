// The tools with one idea each: a task if you like, and no task.
// @ts-check

import { integer, textResult } from "../../kit/tool.mjs";

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

export const simpleTools = [count, quick];
