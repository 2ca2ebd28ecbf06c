import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { root } from "../../tools/lib/paths.ts";
import type { Looks } from "../looks.ts";
import { type Panel, returned } from "../panel.ts";
import { step } from "../step.ts";

const device = "device";
const flash = "flash";

/** A server that all tasks share asks while two of them wait for it: the person says for which. */
export async function placeQuestion(
  page: Page,
  panel: Panel,
  looks: Looks,
  workspace: string,
): Promise<void> {
  await step("a server that all tasks share is configured", () => configure(workspace));
  await step("two tasks wait for it", async () => {
    for (const title of ["Left board", "Right board"]) {
      await panel.newTask();
      await panel.rename(title);
      await panel.runTool(device, flash);
    }
  });
  await step("its question is of no task, and the keyboard leads to it", async () => {
    await panel.button("Open Questions (1 waiting)").waitFor();
    await panel.press("Alt+F8");
    await panel.focused(panel.unplaced(device)).waitFor();
    const right = panel.unplaced(device).getByRole("button", { name: /^Right board/ });
    await panel.unplaced(device).getByText("Which port is the device at?").waitFor();
    await panel
      .unplaced(device)
      .getByRole("button", { name: /^Left board/ })
      .waitFor();
    await looks.inEachSize(page, "inbox");
    await panel.tabTo(right);
    await panel.press("Enter");
  });
  await step("where the person places it, it is answered like any other", async () => {
    const form = panel.form(device);
    await panel.focused(form).waitFor();
    await panel.text(/^You placed this question here, in /).waitFor();
    await form.getByRole("textbox", { name: "Port" }).fill("8080");
    await panel.approve(form, "Submit");
    assert.equal(await returned(panel.call(device, flash)), "Flashed at port 8080.");
  });
}

/** Adds the server to the workspace's mcp.json, which is read again when it changes. */
async function configure(workspace: string): Promise<void> {
  const path = join(workspace, ".vscode", "mcp.json");
  const text = await readFile(path, "utf8");
  const server = {
    command: process.execPath,
    args: [join(root, "scripts", "e2e", "placing", "deviceServer.mjs")],
    sharing: "shared",
  };
  const open = '"servers": {\n';
  assert(text.includes(open), "the workspace has servers");
  await writeFile(path, text.replace(open, `${open}    "${device}": ${JSON.stringify(server)},\n`));
}
