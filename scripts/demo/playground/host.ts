import {
  ErrorCode,
  type FrontEndRequests,
  type InitializeParams,
  protocolVersion,
  type Secret,
} from "@assent/protocol";
import type { HostRequests } from "@assent/protocol/host";
import { ResponseError } from "vscode-jsonrpc/node";
import type { ExampleServer } from "../../../extension/src/exampleServer.ts";
import type { Handlers } from "../../../extension/src/handlers.ts";
import type { KeptFiles } from "../../../extension/src/keptFiles.ts";
import type { Sidecar } from "../../../extension/src/sidecar.ts";
import { version } from "../../tools/lib/version.ts";
import { confirmInTerminal } from "./confirmInTerminal.ts";
import type { Pages } from "./pages.ts";

/**
 * Returns how the playground introduces itself: with all capabilities of the extension except models. If the workspace is
 * confirmed, because it is the playground's own, its servers run without a question.
 */
export function introduction(
  workspace: string,
  { confirmed = true, exampleServer = false } = {},
): InitializeParams {
  return {
    protocolVersion,
    clientInfo: { name: "the playground", version },
    capabilities: {
      elicitation: true,
      sampling: true,
      inputs: true,
      confirmServers: true,
      openUrl: true,
      secrets: true,
    },
    configuration: {
      workspaceFolders: [{ name: "demo", path: workspace, ...(confirmed && { confirmed }) }],
      model: { provider: "demo" },
      exampleServer,
    },
  };
}

/**
 * A browser cannot keep secrets: an mcp.json's inputs come from the environment, and what the sidecar
 * wants kept is forgotten when the demo ends.
 */
export function editorHandlers(pages: Pages): Handlers<FrontEndRequests> {
  const secrets = new Map<string, Secret>();
  return {
    "input/prompt": ({ id, serverName }) => {
      const name = `ASSENT_INPUT_${id.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
      const value = process.env[name];
      if (value !== undefined) return { value: { secret: value } };
      throw refusal(
        `${serverName} asks for ${id}. Start the demo with ${name} in its environment.`,
      );
    },
    "server/confirm": confirmInTerminal,
    "window/openUrl": (params, token) => pages.open(params, token),
    "secret/get": ({ key }) => ({ value: secrets.get(key) ?? null }),
    "secret/set": ({ key, value }) => {
      if (value === null) secrets.delete(key);
      else secrets.set(key, value);
      return {};
    },
  };
}

/** A browser has no editor and no output channel: those who look for them are told where to go. */
export function hostHandlers(
  sidecar: Sidecar,
  pages: Pages,
  workspace: string,
  keptFiles: KeptFiles,
  exampleServer: ExampleServer,
  prompts?: readonly string[],
): Handlers<HostRequests> {
  return {
    "host/ready": () => ({
      status: sidecar.status,
      pages: pages.all,
      ...(prompts !== undefined && { prompts }),
    }),
    "host/pageDone": (params) => {
      pages.done(params);
      return null;
    },
    "host/restartSidecar": () => {
      sidecar.restart();
      return null;
    },
    "host/openConfiguration": (position) => {
      const setting = position?.setting;
      if (setting !== undefined) throw refusal(`The playground's ${setting} cannot be changed.`);
      const file = position?.source ?? `${workspace}/.vscode/mcp.json`;
      const line = position?.line === undefined ? "" : `, line ${position.line}`;
      throw refusal(`The configuration is ${file}${line}. Open it in your editor.`);
    },
    "host/setExampleServer": (params) => exampleServer.set(params),
    // A browser keeps files, and opens none.
    "host/openText": () => ({ opened: false }),
    "host/keepFile": (file) => keptFiles.keep(file),
    "host/keptFile": ({ id }) => keptFiles.read(id),
    "host/forgetFiles": ({ ids }) => keptFiles.forget(ids),
    "host/showLog": () => {
      throw refusal("The log is in the terminal in which the demo runs.");
    },
  };
}

function refusal(message: string): ResponseError<void> {
  return new ResponseError(ErrorCode.InvalidRequest, message);
}
