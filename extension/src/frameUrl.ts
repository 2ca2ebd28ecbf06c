import type { FrameUrlParams, FrameUrlResult } from "@assent/protocol/host";
import * as vscode from "vscode";

/** Whether the addresses of frames are on another machine than the person's browser. */
export function mapsFrames(): boolean {
  return vscode.env.remoteName !== undefined;
}

/**
 * Returns the address at which the person's machine reaches a frame of the machine with the sidecar. VS Code forwards a
 * port for that. An address that is not on the loopback interface, such as a proxy's, is not for a stranger's page: the
 * frame then keeps its own, and the panel says that it cannot be reached.
 */
export async function frameUrl({ url }: FrameUrlParams): Promise<FrameUrlResult> {
  const own = new URL(url);
  const mapped = await vscode.env.asExternalUri(vscode.Uri.parse(own.origin, true));
  const { protocol, host, hostname, pathname } = new URL(mapped.toString(true));
  const isLoopback = hostname === "127.0.0.1" || hostname === "localhost";
  if (protocol !== "http:" || !isLoopback || pathname !== "/") return { url };
  own.host = host;
  return { url: own.href };
}
