// Calls of tools in every revision, where the test plays the model and the person.
import { LegacyClient, ModernClient } from "./clients.ts";
import type { Message } from "./inbox.ts";
import { httpWire, stdioWire, type Wire } from "./wires.ts";

export type Transport = "stdio" | "http";

/** The answer to a request of the server: a result, or an error, which only sessions can send. */
export type Play = (method: string, params: Message) => Message | { readonly error: Message };

/** Starts a server and its client. */
export async function connect(
  program: string,
  args: readonly string[],
  era: string,
  transport: Transport,
  capabilities: Message,
): Promise<{ wire: Wire; client: LegacyClient | ModernClient }> {
  const start = transport === "stdio" ? stdioWire : httpWire;
  const wire = await start(program, ["--era", era, ...args]);
  if (era !== "2026-07-28") {
    return { wire, client: await LegacyClient.open(wire, era, capabilities) };
  }
  const client = new ModernClient(wire);
  client.capabilities = capabilities;
  return { wire, client };
}

/** Calls a tool, and answers its requests; the result. */
export async function callTool(
  client: LegacyClient | ModernClient,
  params: Message,
  play: Play,
): Promise<Message> {
  return client instanceof LegacyClient
    ? await callLegacy(client, params, play)
    : await callModern(client, params, play);
}

async function callLegacy(client: LegacyClient, params: Message, play: Play): Promise<Message> {
  const id = client.begin("tools/call", params);
  for (;;) {
    const message = await client.inbox.take(
      (it) => it["id"] !== undefined && (it["method"] !== undefined || it["id"] === id),
    );
    if (message["method"] === undefined) {
      if (message["error"] !== undefined) throw new Error(JSON.stringify(message["error"]));
      return message["result"];
    }
    const answer = play(message["method"], message["params"]);
    const { error } = answer as { error?: Message };
    if (error === undefined) await client.answer(message, answer);
    else await client.refuse(message, error["code"], error["message"]);
  }
}

async function callModern(client: ModernClient, params: Message, play: Play): Promise<Message> {
  let more: Message = {};
  for (;;) {
    const result = await client.request("tools/call", { ...params, ...more });
    if (result["resultType"] !== "input_required") return result;
    const { inputRequests, requestState } = result;
    const answers = Object.entries<Message>(inputRequests).map(([key, { method, params }]) => [
      key,
      play(method, params),
    ]);
    more = { requestState, inputResponses: Object.fromEntries(answers) };
  }
}

/** What a model says. */
export function says(text: string, stopReason = "endTurn"): Message {
  return { role: "assistant", content: { type: "text", text }, model: "played", stopReason };
}
