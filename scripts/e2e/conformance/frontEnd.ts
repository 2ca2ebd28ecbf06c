import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Ask,
  type CallRequest,
  type CallResult,
  type EditorRequests,
  type InitializeParams,
  type Prompt,
  protocolVersion,
  type Resource,
  type Secret,
  type TaskEventParams,
  type Tool,
} from "@assent/protocol";
import type { Handlers } from "../../../extension/src/handlers.ts";
import { Sidecar } from "../../../extension/src/sidecar.ts";
import { sidecarBinary } from "../../tools/lib/paths.ts";
import { version } from "../../tools/lib/version.ts";
import { fillIn } from "./fillIn.ts";
import type { Context } from "./scenarios.ts";

/** The name under which the suite's server is configured. */
const serverName = "test";

/** The input of mcp.json that asks for the secret of a client that the suite has registered. */
const secretInput = "client-secret";

/**
 * A front end whose person agrees to everything: they fill in every form with what it proposes,
 * approve every completion, and log in wherever they are sent. It sees the server through Assent's
 * protocol alone, as the panel does.
 */
export class FrontEnd {
  readonly #sidecar: Sidecar;
  readonly #folder: string;
  readonly #secrets = new Map<string, Secret>();
  readonly #ends = new Map<number, CallResult>();
  #callEnded = (): void => undefined;
  #taskId = "";
  #fail: (reason: Error) => void = () => undefined;

  /** Rejects when something goes wrong that no request reports. */
  readonly failure = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  /** Starts a sidecar whose only server has this URL. */
  static async start(url: string, context: Context): Promise<FrontEnd> {
    const folder = await mkdtemp(join(tmpdir(), "assent-conformance-data-"));
    process.env["ASSENT_DAEMON_DIR"] = join(folder, "daemon"); // of this process alone
    const frontEnd = new FrontEnd(folder, introduction(url, context), context);
    await frontEnd.#started();
    return frontEnd;
  }

  private constructor(folder: string, params: InitializeParams, context: Context) {
    this.#folder = folder;
    this.failure.catch(() => undefined); // nobody may be listening yet, or any more
    this.#sidecar = new Sidecar({
      command: sidecarBinary,
      args: () => ["serve", "--standalone", "--data-dir", folder],
      initializeParams: async () => params,
      log: (line) => console.error(line),
      handlers: this.#handlers(context),
    });
  }

  async listTools(): Promise<readonly Tool[]> {
    return (await this.#sidecar.request("tools/list", { serverName })).tools ?? [];
  }

  async listResources(): Promise<readonly Resource[]> {
    return (await this.#sidecar.request("resources/list", { serverName })).resources ?? [];
  }

  async listPrompts(): Promise<readonly Prompt[]> {
    return (await this.#sidecar.request("prompts/list", { serverName })).prompts ?? [];
  }

  async callTool(toolName: string, args: unknown): Promise<void> {
    await this.call({ type: "tools/call", toolName, arguments: args });
  }

  /** Makes a call in the task; fails where the server gave no result. */
  async call(request: CallRequest): Promise<void> {
    const { messageId } = await this.#sidecar.request("call/start", {
      taskId: this.#taskId,
      serverName,
      request,
    });
    let result = this.#ends.get(messageId);
    while (result === undefined) {
      await new Promise<void>((resolve) => {
        this.#callEnded = resolve;
      });
      result = this.#ends.get(messageId);
    }
    if (result.type !== "result" && result.type !== "prompt") {
      throw new Error(`${request.type} ended as ${JSON.stringify(result)}`);
    }
  }

  /** Ends the sidecar, and forgets all that it kept. */
  async stop(): Promise<void> {
    await this.#sidecar.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #started(): Promise<void> {
    const running = new Promise<void>((resolve) => {
      this.#sidecar.onStatus((status) => {
        if (status.state === "running") resolve();
        // The sidecar would be started again; here its end is a failure.
        if ("reason" in status) this.#fail(new Error(`the sidecar ended: ${status.reason}`));
      });
    });
    this.#sidecar.onNotification((method, params) => {
      if (method === "task/event") this.#taskEvent(params as TaskEventParams);
    });
    this.#sidecar.start();
    await Promise.race([running, this.failure]);
    this.#taskId = (await this.#sidecar.request("task/create", {})).id;
  }

  #taskEvent({ taskId, event }: TaskEventParams): void {
    if (event.type === "callEnded") {
      this.#ends.set(event.messageId, event.result);
      this.#callEnded();
    }
    if (event.type === "messageAdded" && event.message.body.type === "ask") {
      this.#answer(taskId, event.message.body).catch((error) => this.#fail(error));
    }
  }

  async #answer(taskId: string, { askId, question }: Ask): Promise<void> {
    const content =
      question.type === "mcp_elicitation"
        ? { elicitationContent: fillIn(question.elicitationRequest.fields ?? []) }
        : {};
    await this.#sidecar.request("askResponse", {
      taskId,
      askId,
      askResponse: "yesButtonClicked",
      ...content,
    });
  }

  #handlers(context: Context): Handlers<EditorRequests> {
    return {
      "input/prompt": () => ({ value: { secret: context.client_secret ?? "" } }),
      "secret/get": ({ key }) => ({ value: this.#secrets.get(key) ?? null }),
      "secret/set": ({ key, value }) => {
        if (value === null) this.#secrets.delete(key);
        else this.#secrets.set(key, value);
        return {};
      },
      "window/openUrl": ({ url }) => {
        // A browser shows the page while we go on. It ends at the sidecar's own, whatever that says.
        fetch(url).then(
          (page) => page.body?.cancel(),
          (error: Error) => this.#fail(new Error(`the browser could not show ${url}: ${error}`)),
        );
        return { opened: true };
      },
    };
  }
}

function introduction(url: string, context: Context): InitializeParams {
  const credentials =
    context.client_id === undefined
      ? {}
      : {
          clientId: context.client_id,
          clientSecret: `$\{input:${secretInput}}`,
          ...(context.issuer === undefined ? {} : { issuer: context.issuer }),
        };
  const oauth = {
    ...credentials,
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  };
  return {
    protocolVersion,
    clientInfo: { name: "the conformance suite", version },
    capabilities: { elicitation: true, sampling: true, inputs: true, openUrl: true, secrets: true },
    configuration: {
      servers: { [serverName]: { type: "http", url, oauth } },
      inputs: [{ id: secretInput, type: "promptString", password: true }],
      model: { provider: "demo" },
    },
  };
}
