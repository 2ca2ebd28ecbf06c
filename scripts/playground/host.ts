import {
  type EditorRequests,
  ErrorCode,
  type InitializeParams,
  protocolVersion,
} from "@assent/protocol";
import type { HostRequests } from "@assent/protocol/host";
import { ResponseError } from "vscode-jsonrpc/node";
import type { Handlers } from "../../extension/src/handlers.ts";
import type { Sidecar } from "../../extension/src/sidecar.ts";
import { version } from "../setup/version.ts";

/** What the playground says of itself: it can all that the extension can, but has no models. */
export function introduction(workspace: string): InitializeParams {
  return {
    protocolVersion,
    clientInfo: { name: "the playground", version },
    capabilities: { elicitation: true, sampling: true, inputs: true },
    configuration: {
      workspaceFolders: [{ name: "demo", path: workspace }],
      model: { provider: "demo" },
    },
  };
}

/** A browser cannot keep secrets, so an mcp.json's inputs come from the environment. */
export const editorHandlers: Handlers<EditorRequests> = {
  "input/prompt": ({ id, serverName }) => {
    const name = `ASSENT_INPUT_${id.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
    const value = process.env[name];
    if (value !== undefined) return { value: { secret: value } };
    throw refusal(`${serverName} asks for ${id}. Start the demo with ${name} in its environment.`);
  },
};

/** A browser has no editor and no output channel: those who look for them are told where to go. */
export function hostHandlers(sidecar: Sidecar, workspace: string): Handlers<HostRequests> {
  return {
    "host/ready": () => ({ status: sidecar.status }),
    "host/restartSidecar": () => {
      sidecar.restart();
      return null;
    },
    "host/openConfiguration": (position) => {
      const file = position?.source ?? `${workspace}/.vscode/mcp.json`;
      const line = position?.line === undefined ? "" : `, line ${position.line}`;
      throw refusal(`The configuration is ${file}${line}. Open it in your editor.`);
    },
    "host/showLog": () => {
      throw refusal("The log is in the terminal in which the demo runs.");
    },
  };
}

function refusal(message: string): ResponseError<void> {
  return new ResponseError(ErrorCode.InvalidRequest, message);
}
