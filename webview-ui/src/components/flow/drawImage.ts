/**
 * Isolates Mermaid. It needs inline styles, which the panel's Content-Security-Policy forbids, and it parses foreign
 * text. Therefore:
 *
 * - Mermaid runs in a sandboxed frame with an opaque origin, so that errors and attacks reach neither the panel nor VS
 * Code. The frame's document is written here and inherits the panel's policy: it can load nothing, and run only the
 * script that carries the panel's nonce. A frame with its own file and policy is not possible, because VS Code's
 * webviews serve files only to frames of their own origin.
 * - The drawing comes back as text and is shown as an image. An image's document runs no scripts and loads nothing, and
 * its styles and animation do not affect the panel.
 *
 * This file and Mermaid are loaded when the first diagram is needed.
 */
import * as l10n from "@vscode/l10n";
import type { Drawing, Drawn } from "./drawing.ts";
import script from "./mermaidFrame.ts?script";

/** The largest drawing in characters. It is more than the frame sends, and short enough for an image's URL. */
const longest = 500_000;

/** Longer than the frame takes to start on a slow machine, in milliseconds. */
const waitLimitMs = 20_000;

/** The frame, kept for the page's lifetime unless it fails, so that later diagrams are quick. */
let opened: Promise<HTMLIFrameElement> | undefined;

/** Draws a diagram and returns the URL of an image. Rejects if that fails. */
export async function drawImage(drawing: Drawing): Promise<string> {
  opened ??= openFrame();
  const frame = await opened;
  const drawn = await answer(frame, drawing).catch((error: unknown) => {
    frame.remove();
    opened = undefined;
    throw error;
  });
  if ("problem" in drawn) throw new Error(`Mermaid could not draw it: ${drawn.problem}`);
  if (drawn.svg.length > longest) throw new Error("the picture is too large to be shown");
  return `data:image/svg+xml,${encodeURIComponent(drawn.svg)}`;
}

/** Draws in the frame. Rejects if the frame has failed. */
async function answer({ contentWindow }: HTMLIFrameElement, drawing: Drawing): Promise<Drawn> {
  const { port1, port2 } = new MessageChannel();
  let timeout: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<Drawn>((resolve, reject) => {
      if (contentWindow === null) throw new Error("the frame that draws was taken away");
      timeout = setTimeout(
        () => reject(new Error(`the frame that draws was silent for ${waitLimitMs} ms`)),
        waitLimitMs,
      );
      port1.onmessage = ({ data }: MessageEvent<Drawn>) => resolve(data);
      // An opaque origin cannot be addressed by name, so the frame answers on this port. It never posts to the panel's
      // window, and the bridge does not listen to it.
      contentWindow.postMessage(drawing, "*", [port2]);
    });
  } finally {
    clearTimeout(timeout);
    port1.close();
  }
}

async function openFrame(): Promise<HTMLIFrameElement> {
  // The policy allows scripts with this nonce. The attribute reads as empty, but the property does not.
  const nonce = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("aria-hidden", "true");
  frame.tabIndex = -1;
  frame.title = l10n.t("Diagram renderer");
  frame.className = "drawing-frame";
  frame.srcdoc = `<!DOCTYPE html><body><script nonce="${nonce}">${forHtml(script)}</script>`;
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  document.body.append(frame);
  await loaded;
  return frame;
}

/** These sequences have a meaning in HTML. In a script they occur only in strings and patterns. */
function forHtml(code: string): string {
  return code.replaceAll(/<(?=!--|\/?script)/gi, "\\x3C");
}
