// Calls of tools in every revision, where the test plays the model.
import { type Client, LegacyClient, ModernClient } from "./clients.ts";
import { httpWire, type Message, stdioWire, type Wire } from "./wires.ts";

export type Transport = "stdio" | "http";

/** Starts a server and its client. */
export async function connect(
  program: string,
  era: string,
  transport: Transport,
  capabilities: Message,
): Promise<{ wire: Wire; client: Client }> {
  const open = transport === "stdio" ? stdioWire : httpWire;
  const wire = await open(program, ["--era", era]);
  if (era !== "2026-07-28") {
    return { wire, client: await LegacyClient.open(wire, era, capabilities) };
  }
  const client = new ModernClient(wire);
  client.capabilities = capabilities;
  return { wire, client };
}

/** Calls a tool, and answers its requests with results; the result. */
export async function callTool(
  client: Client,
  params: Message,
  play: (method: string, params: Message) => Message,
): Promise<Message> {
  if (client instanceof ModernClient) {
    let result = await client.request("tools/call", params);
    while (result["resultType"] === "input_required") {
      const { inputRequests, requestState } = result;
      const answers = Object.entries<Message>(inputRequests).map(([key, { method, params }]) => [
        key,
        play(method, params),
      ]);
      const inputResponses = Object.fromEntries(answers);
      result = await client.request("tools/call", { ...params, requestState, inputResponses });
    }
    return result;
  }
  const id = client.begin("tools/call", params);
  for (;;) {
    const message = await client.wire.take(
      (it) => it["id"] !== undefined && (it["method"] !== undefined || it["id"] === id),
    );
    if (message["method"] === undefined) return message["result"];
    const result = play(message["method"], message["params"]);
    await client.wire.send({ jsonrpc: "2.0", id: message["id"], result });
  }
}
