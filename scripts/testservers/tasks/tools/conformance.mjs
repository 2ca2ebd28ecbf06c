// The tools that the tasks-* server scenarios of the official conformance suite call.
// @ts-check

import { integer, ToolError, textResult } from "../../kit/tool.mjs";
import { codes, RpcError } from "../rpc.mjs";
import { form } from "./tool.mjs";

const confirm = { confirm: { type: "boolean", title: "Confirm", default: false } };
const name = { name: { type: "string", title: "Name" } };

/** @type {import("./tool.mjs").Tool} */
const greet = {
  name: "greet",
  description: "Greets by name, at once.",
  taskSupport: "forbidden",
  properties: name,
  async run(_job, args) {
    return textResult(`Hello, ${args["name"]}!`);
  },
};

/** @type {import("./tool.mjs").Tool} */
const slowCompute = {
  name: "slow_compute",
  description: "Computes for some seconds.",
  taskSupport: "optional",
  properties: {
    seconds: { type: "integer", title: "Seconds", minimum: 0, maximum: 3600, default: 1 },
    label: { type: "string", title: "Label" },
  },
  async run(job, args) {
    const seconds = integer(args, "seconds", 1, 3600);
    await job.step("Computing", seconds * 1000);
    return textResult(`Computed ${args["label"] ?? "it"} for ${seconds} s.`);
  },
};

/** @type {import("./tool.mjs").Tool} */
const failingJob = {
  name: "failing_job",
  description: "Ends with a result that is an error after a second.",
  taskSupport: "required",
  async run(job) {
    await job.step("Failing", 1000);
    throw new ToolError("The job failed, as it always does.");
  },
};

/** @type {import("./tool.mjs").Tool} */
const protocolErrorJob = {
  name: "protocol_error_job",
  description: "Fails with an internal error of JSON-RPC.",
  taskSupport: "required",
  async run(job) {
    await job.step("Failing", 100);
    throw new RpcError(codes.internalError, "The job broke.");
  },
};

/** @type {import("./tool.mjs").Tool} */
const confirmDelete = {
  name: "confirm_delete",
  description: "Asks before it would delete a file; deletes nothing.",
  taskSupport: "required",
  properties: { filename: { type: "string", title: "File" } },
  needs: () => ["form"],
  async run(job, args) {
    const { sure } = await job.ask({ sure: form(`Delete ${args["filename"]}?`, confirm) });
    return textResult(`Told ${JSON.stringify(sure)} about ${args["filename"]}.`);
  },
};

/** @type {import("./tool.mjs").Tool} */
const multiInput = {
  name: "multi_input",
  description: "Asks two things at a time.",
  taskSupport: "required",
  needs: () => ["form"],
  async run(job) {
    const answers = await job.ask({
      who: form("Who are you?", name),
      sure: form("Are you sure?", confirm),
    });
    return textResult(`Told ${JSON.stringify(answers)}.`);
  },
};

/** @type {import("./tool.mjs").Tool} */
const testToolWithTask = {
  name: "test_tool_with_task",
  description: "Asks for a name first, and becomes a task then.",
  taskSupport: "required",
  needs: () => ["form"],
  async before({ args, answers }) {
    const { user_name: answer } = answers;
    if (answer === undefined) return { asking: { requests: { user_name: form("Name?", name) } } };
    return { args: { ...args, answer } };
  },
  async run(job, args) {
    await job.step("Greeting", 100);
    return textResult(`Told ${JSON.stringify(args["answer"])}.`);
  },
};

export const conformanceTools = [
  greet,
  slowCompute,
  failingJob,
  protocolErrorJob,
  confirmDelete,
  multiInput,
  testToolWithTask,
];
