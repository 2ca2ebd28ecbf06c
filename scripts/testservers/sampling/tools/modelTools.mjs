// The tools that this server offers to a model, and runs for it (Sampling with Tools). They always
// return the same for the same.
// @ts-check

/** @typedef {import("../tool.mjs").Json} Json */

/** As they are in a request. */
export const modelTools = [
  {
    name: "get_weather",
    description: "Get current weather for a city",
    inputSchema: {
      type: "object",
      properties: { city: { type: "string", description: "City name" } },
      required: ["city"],
    },
  },
  {
    name: "get_time",
    description: "Get the time of day in a time zone",
    inputSchema: {
      type: "object",
      properties: { zone: { type: "string", description: "A name like Europe/Paris" } },
      required: ["zone"],
    },
  },
];

/** What time it is here. */
const now = new Date("2026-07-28T12:00:00Z");

const skies = ["sunny", "partly cloudy", "rainy", "foggy"];

/** @type {Record<string, (input: Json) => string>} */
const run = {
  get_weather({ city }) {
    if (typeof city !== "string" || city === "") throw new Error("city is missing");
    const sum = [...city].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0);
    return `Weather in ${city}: ${10 + (sum % 20)} °C, ${skies[sum % skies.length]}`;
  },
  get_time({ zone }) {
    if (typeof zone !== "string" || zone === "") throw new Error("zone is missing");
    const time = now.toLocaleTimeString("en-GB", { timeZone: zone, timeStyle: "short" });
    return `The time in ${zone} is ${time}`;
  },
};

/**
 * Runs a tool_use. The model is told about errors. Returns a tool_result.
 * @param {Json} use
 */
export function runModelTool(use) {
  const { id, name, input } = use;
  const result = (/** @type {string} */ text) => ({
    type: "tool_result",
    toolUseId: id,
    content: [{ type: "text", text }],
  });
  try {
    const tool = Object.hasOwn(run, name) ? run[name] : undefined;
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    return result(tool(input ?? {}));
  } catch (error) {
    return { ...result(error instanceof Error ? error.message : String(error)), isError: true };
  }
}
