import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FrameLocator, Locator } from "playwright-core";
import { root } from "../tools/lib/paths.ts";
import { eventually } from "./eventually.ts";
import type { Panel } from "./panel.ts";

/** An example server of ext-apps over stdio, by its package's name without the prefix. */
export function exampleApp(name: string, ...args: readonly string[]): object {
  const path = ["node_modules", "@modelcontextprotocol", `server-${name}`, "dist", "index.js"];
  return { command: process.execPath, args: [join(root, ...path), ...args, "--stdio"] };
}

/** Waits until the app of a tool's newest call takes presses. */
export function armed(panel: Panel, server: string, tool: string): Promise<void> {
  const app = innerFrame(panel, server, tool).locator("html");
  return takesPresses(panel.call(server, tool).getByTitle(`App of ${server}: ${tool}`), app);
}

/**
 * Brings a part of an app into view, and waits until the app's frame takes presses there. The frame looks every 100 ms
 * whether it has moved, so its state counts once it has held for several looks. The browser may then still send presses
 * past it, until it has drawn that the frame takes them. So this waits until the part sees a move of the pointer.
 */
export async function takesPresses(frame: Locator, part: Locator): Promise<void> {
  await part.scrollIntoViewIfNeeded();
  let looks = 0;
  await eventually("a frame that takes presses", async () => {
    const classes = (await frame.getAttribute("class")) ?? "";
    looks = classes.split(" ").includes("app-frame-armed") ? looks + 1 : 0;
    return looks >= 4 || undefined;
  });
  await part.evaluate((element) => {
    const note = () => element.setAttribute("data-e2e-pointer", "");
    element.addEventListener("pointermove", note, { once: true });
  });
  let x = 20;
  await eventually("the pointer in the app", async () => {
    x = 30 - x; // each look is a move
    await part.hover({ position: { x, y: 20 } });
    return (await part.getAttribute("data-e2e-pointer")) ?? undefined;
  });
}

/** The inner frame of the app of a tool's newest call. */
export function innerFrame(panel: Panel, server: string, tool: string): FrameLocator {
  const frame = panel.call(server, tool).getByTitle(`App of ${server}: ${tool}`);
  return frame.contentFrame().locator("iframe").contentFrame();
}

/** Writes a PDF of one page with a line of ASCII, without brackets, in one of the fonts that readers have. */
export async function writePdf(path: string, line: string): Promise<void> {
  const drawing = `BT /F1 24 Tf 20 100 Td (${line}) Tj ET`;
  const resources = "<< /Font << /F1 5 0 R >> >>";
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources ${resources} >>`,
    `<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let text = "%PDF-1.4\n";
  const entries = ["0000000000 65535 f \n"];
  for (const [i, object] of objects.entries()) {
    entries.push(`${String(text.length).padStart(10, "0")} 00000 n \n`);
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
  }
  const table = `xref\n0 ${entries.length}\n${entries.join("")}`;
  const trailer = `trailer\n<< /Size ${entries.length} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  await writeFile(path, text + table + trailer);
}
