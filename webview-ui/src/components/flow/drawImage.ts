/**
 * Mermaid at arm's length. It wants inline styles, which the panel's Content-Security-Policy forbids
 * for good reasons, and it reads what strangers wrote. So
 *
 * - it runs in a sandboxed frame, whose origin is nobody's: what goes wrong in there reaches neither
 *   the panel nor VS Code. The frame's document is written here and inherits the panel's policy, so
 *   it can load nothing and run nothing but the script that it is given with the panel's nonce. A
 *   frame with a file of its own, and a policy of its own, is not to be had: VS Code's webviews serve
 *   files to frames of their own origin only.
 * - what it draws comes back as text and is shown as an image. An image's document runs no script and
 *   loads nothing, and has its styles, and its animation, to itself.
 *
 * This file is loaded when a first picture is wanted, and Mermaid with it.
 */
import * as l10n from "@vscode/l10n";
import type { Drawing, Drawn } from "./drawing.ts";
import script from "./mermaidFrame.ts?script";

/** More than any answer of the frame's, and few enough for an image's URL. */
const longest = 500_000;

/** Longer than the frame takes to start on a slow machine. */
const patienceMs = 20_000;

/** Kept for the page's lifetime, unless it fails: the next picture comes at once. */
let opened: Promise<HTMLIFrameElement> | undefined;

/** Draws a picture and returns the URL of an image; rejects where that does not work. */
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

/** What the frame makes of a drawing. Rejects where the frame is of no more use. */
async function answer({ contentWindow }: HTMLIFrameElement, drawing: Drawing): Promise<Drawn> {
  const { port1, port2 } = new MessageChannel();
  let timeout: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<Drawn>((resolve, reject) => {
      if (contentWindow === null) throw new Error("the frame that draws was taken away");
      timeout = setTimeout(
        () => reject(new Error(`the frame that draws was silent for ${patienceMs} ms`)),
        patienceMs,
      );
      port1.onmessage = ({ data }: MessageEvent<Drawn>) => resolve(data);
      // An origin that is nobody's has no name to send to. The port is the way back: the frame never
      // has to speak to the panel's window, and the bridge does not listen to it.
      contentWindow.postMessage(drawing, "*", [port2]);
    });
  } finally {
    clearTimeout(timeout);
    port1.close();
  }
}

async function openFrame(): Promise<HTMLIFrameElement> {
  // The policy lets run what has this; the attribute reads as empty, the property does not.
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

/** These begin something else in HTML; in a script they are in strings and patterns only. */
function forHtml(code: string): string {
  return code.replaceAll(/<(?=!--|\/?script)/gi, "\\x3C");
}
