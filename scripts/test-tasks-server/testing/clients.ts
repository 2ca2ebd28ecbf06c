// Raw clients of the two revisions, on either transport.
import type { Inbox, Message } from "./inbox.ts";
import type { Wire } from "./wires.ts";

export const relatedTask = "io.modelcontextprotocol/related-task";

class Client {
  readonly wire: Wire;
  #last = 0;

  constructor(wire: Wire) {
    this.wire = wire;
  }

  get inbox(): Inbox {
    return this.wire.inbox;
  }

  /** Sends a request without waiting; returns its id. */
  begin(method: string, params: Message = {}): string {
    const id = `client-${++this.#last}`;
    void this.wire.send({ jsonrpc: "2.0", id, method, params: this.params(params) });
    return id;
  }

  /** The response to a request that began before. */
  async response(id: string): Promise<Message> {
    return await this.inbox.take((message) => message["id"] === id && !("method" in message));
  }

  /** The response, with `result` or `error`. */
  async respond(method: string, params: Message = {}): Promise<Message> {
    return await this.response(this.begin(method, params));
  }

  /** The result; an error fails the test. */
  async request(method: string, params: Message = {}): Promise<Message> {
    const { result, error } = await this.respond(method, params);
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async error(method: string, params: Message = {}): Promise<Message> {
    const { result, error } = await this.respond(method, params);
    if (result !== undefined) throw new Error(`${method}: ${JSON.stringify(result)}`);
    return error;
  }

  /** The next notification, or request of the server, of that method. */
  async next(method: string, fits = (_params: Message) => true): Promise<Message> {
    return await this.inbox.take(
      (message) => message["method"] === method && fits(message["params"]),
    );
  }

  protected params(params: Message): Message {
    return params;
  }
}

export class LegacyClient extends Client {
  static async connect(wire: Wire, capabilities: Message = { elicitation: {} }) {
    const client = new LegacyClient(wire);
    const clientInfo = { name: "test", version: "1.0.0" };
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
    await client.request("initialize", params);
    await wire.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return client;
  }

  async answer(request: Message, result: Message): Promise<void> {
    await this.wire.send({ jsonrpc: "2.0", id: request["id"], result });
  }

  /** Starts a tool as a task; its id. */
  async startTask(name: string, args: Message = {}): Promise<string> {
    const { task } = await this.request("tools/call", { name, arguments: args, task: {} });
    return task.taskId;
  }

  async status(taskId: string, status: string): Promise<Message> {
    const fits = (task: Message) => task["taskId"] === taskId && task["status"] === status;
    return await this.next("notifications/tasks/status", fits);
  }
}

export class ModernClient extends Client {
  capabilities: Message = {
    elicitation: { form: {}, url: {} },
    extensions: { "io.modelcontextprotocol/tasks": {} },
  };

  /** Starts a tool that becomes a task; its id. */
  async startTask(name: string, args: Message = {}): Promise<string> {
    const task = await this.request("tools/call", { name, arguments: args });
    return task["taskId"];
  }

  /** Listens to the task until it has the status. */
  async status(taskId: string, status: string): Promise<Message> {
    const id = this.begin("subscriptions/listen", { notifications: { taskIds: [taskId] } });
    const fits = (task: Message) =>
      task["_meta"]["io.modelcontextprotocol/subscriptionId"] === id && task["status"] === status;
    const { params } = await this.next("notifications/tasks", fits);
    this.wire.cancel(id);
    return params;
  }

  protected override params(params: Message): Message {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": this.capabilities,
    };
    return { ...params, _meta: { ..._meta, ...params["_meta"] } };
  }
}
