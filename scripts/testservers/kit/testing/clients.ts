// Raw clients of the revisions with sessions and of 2026-07-28, on either transport.
import type { Inbox, Message } from "./inbox.ts";
import type { Wire } from "./wires.ts";

export class Client {
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
  /** Sends initialize, and expects the version that it asks for. */
  protected async initialize(version: string, capabilities: Message): Promise<void> {
    const clientInfo = { name: "test", version: "1.0.0" };
    const params = { protocolVersion: version, capabilities, clientInfo };
    const { protocolVersion } = await this.request("initialize", params);
    if (protocolVersion !== version) throw new Error(`the server speaks ${protocolVersion}`);
    await this.wire.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  static async open(wire: Wire, version: string, capabilities: Message): Promise<LegacyClient> {
    const client = new LegacyClient(wire);
    await client.initialize(version, capabilities);
    return client;
  }

  async answer(request: Message, result: Message): Promise<void> {
    await this.wire.send({ jsonrpc: "2.0", id: request["id"], result });
  }

  async refuse(request: Message, code: number, message: string): Promise<void> {
    await this.wire.send({ jsonrpc: "2.0", id: request["id"], error: { code, message } });
  }
}

export class ModernClient extends Client {
  capabilities: Message = {};

  protected override params(params: Message): Message {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": this.capabilities,
    };
    return { ...params, _meta: { ..._meta, ...params["_meta"] } };
  }
}
