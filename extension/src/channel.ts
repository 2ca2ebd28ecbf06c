import {
  AbstractMessageReader,
  AbstractMessageWriter,
  createMessageConnection,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageConnection,
  type MessageReader,
  type MessageWriter,
} from "vscode-jsonrpc/node";

/** A JSON-RPC connection over a carrier of whole messages, such as postMessage or a WebSocket. */
export interface Channel {
  readonly connection: MessageConnection;
  /** Takes a message that arrived. It ignores anything but a JSON-RPC message. */
  receive(message: unknown): void;
}

export function openChannel(post: (message: Message) => void): Channel {
  const reader = new Reader();
  const connection = createMessageConnection(reader, new Writer(post));
  return { connection, receive: (message) => reader.receive(message) };
}

class Reader extends AbstractMessageReader implements MessageReader {
  #callback: DataCallback | undefined;

  listen(callback: DataCallback): Disposable {
    this.#callback = callback;
    return {
      dispose: () => {
        this.#callback = undefined;
      },
    };
  }

  receive(message: unknown): void {
    if (isMessage(message)) this.#callback?.(message);
  }

  override dispose(): void {
    this.#callback = undefined;
    super.dispose();
  }
}

class Writer extends AbstractMessageWriter implements MessageWriter {
  readonly #post: (message: Message) => void;
  #disposed = false;

  constructor(post: (message: Message) => void) {
    super();
    this.#post = post;
  }

  /** Drops late answers to a webview that has gone, because its successor counts from 0 again. */
  async write(message: Message): Promise<void> {
    if (!this.#disposed) this.#post(message);
  }

  end(): void {}

  override dispose(): void {
    this.#disposed = true;
    super.dispose();
  }
}

function isMessage(value: unknown): value is Message {
  return (
    typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0"
  );
}
