import type { AgreeingFrontEnd, Context } from "./frontEnd.ts";

type Play = (frontEnd: AgreeingFrontEnd, context: Context) => Promise<void>;

/** Does what a scenario wants to see. Most of them look at what any use of a server causes. */
export async function play(
  name: string,
  frontEnd: AgreeingFrontEnd,
  context: Context,
): Promise<void> {
  const chosen = plays[name] ?? (name.startsWith("auth/") ? everyTool : listTools);
  await chosen(frontEnd, context);
}

const plays: Readonly<Record<string, Play>> = {
  tools_call: async (frontEnd) => {
    await frontEnd.listTools();
    await frontEnd.callTool("add_numbers", { a: 5, b: 3 });
  },
  "elicitation-sep1034-client-defaults": everyTool,
  "sse-retry": everyTool,
  // Some of its tools send invalid answers, and the others must still succeed.
  "sep-2322-client-request-state": async (frontEnd) => {
    for (const { name } of await frontEnd.listTools()) {
      await frontEnd.callTool(name, {}).catch((error) => console.error(error));
    }
  },
  "http-standard-headers": everything,
  "http-custom-headers": async (frontEnd, { toolCalls = [] }) => {
    await frontEnd.listTools();
    for (const call of toolCalls) await frontEnd.callTool(call.name, call.arguments);
  },
  "http-invalid-tool-headers": async (frontEnd) => {
    for (const { name } of await frontEnd.listTools()) {
      await frontEnd.callTool(name, { region: "us-west1" });
    }
  },
  "json-schema-2020-12-preservation": async (frontEnd) => {
    const tools = await frontEnd.listTools();
    const focal = tools.find(({ name }) => name === "json_schema_2020_12_tool");
    await frontEnd.callTool("json_schema_echo", { schema: focal?.inputSchema });
  },
};

async function listTools(frontEnd: AgreeingFrontEnd): Promise<void> {
  await frontEnd.listTools();
}

async function everyTool(frontEnd: AgreeingFrontEnd): Promise<void> {
  for (const { name } of await frontEnd.listTools()) await frontEnd.callTool(name, {});
}

async function everything(frontEnd: AgreeingFrontEnd): Promise<void> {
  await everyTool(frontEnd);
  for (const { uri } of await frontEnd.listResources()) {
    await frontEnd.call({ type: "resources/read", uri });
  }
  for (const { name } of await frontEnd.listPrompts()) {
    await frontEnd.call({ type: "prompts/get", promptName: name });
  }
}
