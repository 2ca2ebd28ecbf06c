// Raw clients of the revisions with sessions and of 2026-07-28, on either transport.
import type { Message, Wire } from "./wires.ts";

export class Client {
  readonly wire: Wire;
  #last = 0;

  constructor(wire: Wire) {
    this.wire = wire;
  }

  /** Sends a request without waiting; returns its id. */
  begin(method: string, params: Message = {}): string {
    const id = `client-${++this.#last}`;
    void this.wire.send({ jsonrpc: "2.0", id, method, params: this.params(params) });
    return id;
  }

  /** The result; an error fails the test. */
  async request(method: string, params: Message = {}): Promise<Message> {
    const { result, error } = await this.#respond(method, params);
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** The error; a result fails the test. */
  async error(method: string, params: Message = {}): Promise<Message> {
    const { result, error } = await this.#respond(method, params);
    if (result !== undefined) throw new Error(`${method}: ${JSON.stringify(result)}`);
    return error;
  }

  async #respond(method: string, params: Message): Promise<Message> {
    const id = this.begin(method, params);
    return await this.wire.take((message) => message["id"] === id && !("method" in message));
  }

  protected params(params: Message): Message {
    return params;
  }
}

export class LegacyClient extends Client {
  /** Initializes a session, and expects the version that it asks for. */
  static async open(wire: Wire, version: string, capabilities: Message): Promise<LegacyClient> {
    const client = new LegacyClient(wire);
    const clientInfo = { name: "test", version: "1.0.0" };
    const params = { protocolVersion: version, capabilities, clientInfo };
    const { protocolVersion } = await client.request("initialize", params);
    if (protocolVersion !== version) throw new Error(`the server speaks ${protocolVersion}`);
    await wire.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return client;
  }
}

export class ModernClient extends Client {
  capabilities: Message = {};

  protected override params(params: Message): Message {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": this.capabilities,
    };
    return { ...params, _meta };
  }
}
