import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  CallRequest,
  Configuration,
  FrontEndRequests,
  Prompt,
  Resource,
  Secret,
  Tool,
} from "@assent/protocol";
import type { Handlers } from "../../../extension/src/handlers.ts";
import { fillIn } from "../fillIn.ts";
import { FrontEnd } from "../frontEnd.ts";

/** The name under which the suite's server is configured. */
const serverName = "test";

/** The input of mcp.json that asks for the secret of a client that the suite has registered. */
const secretInput = "client-secret";

/** What the suite tells the client of a scenario. */
export interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly issuer?: string;
  readonly private_key_pem?: string;
  readonly valid_jwt?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly idp_issuer?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: unknown }[];
}

/**
 * A front end with a person who agrees to everything: they submit every form with its defaults, approve every
 * completion, and log in at each page that a server opens. It uses Assent's protocol, as the panel does.
 */
export class AgreeingFrontEnd {
  readonly #folder: string;
  readonly #frontEnd: FrontEnd;
  #fail: (reason: Error) => void = () => undefined;

  /** Rejects when the browser cannot show a page, which no request reports. */
  readonly failure = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  /** Starts a sidecar with one server, which has this URL. */
  static async start(url: string, context: Context, scenario: string): Promise<AgreeingFrontEnd> {
    const folder = await mkdtemp(join(tmpdir(), "assent-conformance-data-"));
    const agreeing = new AgreeingFrontEnd(folder, url, context, scenario);
    await agreeing.#frontEnd.start();
    return agreeing;
  }

  private constructor(dataFolder: string, url: string, context: Context, scenario: string) {
    this.#folder = dataFolder;
    this.failure.catch(() => undefined); // it may come while no call waits
    this.#frontEnd = new FrontEnd({
      name: "the conformance suite",
      dataFolder,
      environment: environmentOf(context),
      configuration: configurationOf(url, context, scenario),
      flags: ["--standalone"],
      capabilities: { inputs: true, secrets: true },
      handlers: this.#handlers(context),
    });
  }

  async listTools(): Promise<readonly Tool[]> {
    return (await this.#frontEnd.request("tools/list", { serverName })).tools ?? [];
  }

  async listResources(): Promise<readonly Resource[]> {
    return (await this.#frontEnd.request("resources/list", { serverName })).resources ?? [];
  }

  async listPrompts(): Promise<readonly Prompt[]> {
    return (await this.#frontEnd.request("prompts/list", { serverName })).prompts ?? [];
  }

  async callTool(toolName: string, args: unknown): Promise<void> {
    await this.call({ type: "tools/call", toolName, arguments: args });
  }

  /** Makes a call and answers its questions. Fails if the server gave no result. */
  async call(request: CallRequest): Promise<void> {
    const frontEnd = this.#frontEnd;
    const id = await frontEnd.startCall(serverName, request);
    for (let nth = 0; ; nth++) {
      const next = await frontEnd.until(`the end of ${request.type}`, () => {
        const shown = frontEnd.asksSince(id)[nth];
        const { result } = frontEnd.call(id);
        return shown ?? (result && { result });
      });
      if ("result" in next) {
        const { result } = next;
        if (result.type === "result" || result.type === "prompt") return;
        throw new Error(`${request.type} ended as ${JSON.stringify(result)}`);
      }
      const { question } = next.ask;
      await frontEnd.respond(next, {
        askResponse: "yesButtonClicked",
        ...(question.type === "mcp_elicitation" && {
          elicitationContent: fillIn(question.elicitationRequest.fields ?? []),
        }),
      });
    }
  }

  /** Ends the sidecar, and removes its data. */
  async stop(): Promise<void> {
    await this.#frontEnd.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #handlers(context: Context): Handlers<FrontEndRequests> {
    const secrets = new Map<string, Secret>();
    return {
      "input/prompt": () => ({ value: { secret: context.client_secret ?? "" } }),
      "secret/get": ({ key }) => ({ value: secrets.get(key) ?? null }),
      "secret/set": ({ key, value }) => {
        if (value === null) secrets.delete(key);
        else secrets.set(key, value);
        return {};
      },
      "window/openUrl": ({ url }) => {
        // A browser shows the page while we go on. It ends at the sidecar's own, no matter what that says.
        fetch(url).then(
          (page) => page.body?.cancel(),
          (error: Error) => this.#fail(new Error(`the browser could not show ${url}: ${error}`)),
        );
        return { opened: true };
      },
    };
  }
}

/** The variables that hold what a machine or an organisation gives a client, which is not asked of a person. */
function environmentOf(context: Context): Record<string, string> {
  return {
    ...(context.private_key_pem && { PRIVATE_KEY: context.private_key_pem }),
    ...(context.valid_jwt && { WORKLOAD: context.valid_jwt }),
    ...(context.idp_id_token && { ID_TOKEN: context.idp_id_token }),
  };
}

/** The suite's registration of the client, in the words of mcp.json. */
function credentialsOf(context: Context, scenario: string): object {
  const { client_id: clientId, issuer, idp_client_id, idp_issuer } = context;
  if (clientId === undefined) return {};
  return {
    clientId,
    ...(context.client_secret && { clientSecret: `$\{input:${secretInput}}` }),
    ...(issuer && { issuer }),
    ...(context.private_key_pem && { privateKey: envOf("PRIVATE_KEY") }),
    ...(context.valid_jwt && { assertion: envOf("WORKLOAD") }),
    ...(idp_client_id && {
      identityProvider: { issuer: idp_issuer, clientId: idp_client_id, idToken: envOf("ID_TOKEN") },
    }),
    ...(scenario.startsWith("auth/client-credentials") && { grantType: "client_credentials" }),
  };
}

function envOf(name: string): string {
  return `$\{env:${name}}`;
}

function configurationOf(url: string, context: Context, scenario: string): Configuration {
  const oauth = {
    ...credentialsOf(context, scenario),
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  };
  return {
    servers: { [serverName]: { type: "http", url, oauth } },
    inputs: [{ id: secretInput, type: "promptString", password: true }],
    model: { provider: "demo" },
  };
}
