// What the reference hosts have in common: servers over stdio by the official TypeScript SDK, and the part of
// the editor's wire that the benchmark needs, so that its front end is the same for them and the sidecar.
import type {
  AskResponseParams,
  InitializeParams,
  ServerParams,
  StartCallParams,
  Task,
} from "@assent/protocol";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  type CallToolResult,
  ElicitRequestSchema,
  type ElicitResult,
} from "@modelcontextprotocol/sdk/types.js";
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";

/** A message of a conversation, as far as the benchmark looks at it. */
export interface HostMessage {
  readonly id: number;
  readonly body: unknown;
}

/** How a host keeps its asks and shows them. */
export interface Conversation {
  /** Shows a server's question, and settles once it is answered, or never will be. */
  elicit(taskId: string, askId: string, question: string): Promise<ElicitResult>;
  answer(params: AskResponseParams): void;
}

/** Tells the front end. */
export type Tell = (method: string, params: unknown) => void;

/** The longest time that a timer of Node.js knows, in milliseconds: a person may take long. */
export const longest = 2 ** 31 - 1;

/** What a host says of itself to a server. */
export const clientInfo = { name: "reference", version: "1" };

/** The message that an ask is. */
export const askMessage = (id: number, askId: string, question: string): HostMessage => ({
  id,
  body: { type: "ask", askId, question: { elicitationRequest: { message: question } } },
});

/** What an answer of the front end is to the server. */
export const accepted = (params: AskResponseParams): ElicitResult => ({
  action: "accept",
  content: params.elicitationContent as NonNullable<ElicitResult["content"]>,
});

/** Serves a front end on stdin and stdout until it leaves. */
export function serve(begin: (tell: Tell) => Conversation): void {
  const connection = createMessageConnection(
    new StreamMessageReader(process.stdin),
    new StreamMessageWriter(process.stdout),
  );
  const tell: Tell = (method, params) => {
    connection.sendNotification(method, params).catch(fail);
  };
  const conversation = begin(tell);
  const clients = new Map<string, Promise<Client>>();
  let servers: Readonly<Record<string, { command: string; args: string[] }>> = {};
  let hasLeft = false;
  let asks = 0;
  let tasks = 0;

  // A task has its own connection to each server, as in the sidecar.
  const clientOf = (serverName: string, taskId: string): Promise<Client> => {
    const key = `${serverName} ${taskId}`;
    const known = clients.get(key);
    if (known !== undefined) return known;
    const server = servers[serverName];
    if (server === undefined) throw new Error(`there is no server ${serverName}`);
    const client = new Client(clientInfo, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asks++;
      return conversation.elicit(taskId, `ask-${asks}`, params.message);
    });
    const connected = client
      .connect(new StdioClientTransport({ ...server, stderr: "inherit" }))
      .then(() => client);
    clients.set(key, connected);
    return connected;
  };

  const call = async ({ taskId, serverName, request }: StartCallParams): Promise<void> => {
    if (request.type !== "tools/call") throw new Error(`the host has no ${request.type}`);
    const client = await clientOf(serverName, taskId);
    const result = (await client.callTool(
      { name: request.toolName, arguments: request.arguments as Record<string, unknown> },
      undefined,
      { timeout: longest },
    )) as CallToolResult;
    tell("task/event", {
      taskId,
      event: { type: "callEnded", result: { type: "result", ...result } },
    });
  };

  connection.onRequest("initialize", ({ configuration }: InitializeParams) => {
    servers = (configuration.servers ?? {}) as typeof servers;
    return { protocolVersion: 1, serverInfo: clientInfo };
  });
  connection.onRequest("task/create", (): Pick<Task, "id"> => {
    tasks++;
    return { id: `task-${tasks}` };
  });
  connection.onRequest("tools/list", async ({ serverName }: ServerParams) => {
    const client = await clientOf(serverName, "");
    return await client.listTools();
  });
  connection.onRequest("call/start", (params: StartCallParams) => {
    call(params).catch((error: unknown) => {
      if (!hasLeft) fail(error); // else it was cut off
    });
    return {};
  });
  connection.onRequest("askResponse", (params: AskResponseParams) => {
    conversation.answer(params);
    return {};
  });
  connection.onClose(() => {
    hasLeft = true;
    Promise.all([...clients.values()].map(async (client) => (await client).close())).then(
      () => process.exit(0),
      fail,
    );
  });
  connection.listen();
}

/** Ends a host that cannot go on. */
export function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}
