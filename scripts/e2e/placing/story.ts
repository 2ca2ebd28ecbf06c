import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { root } from "../../tools/lib/paths.ts";
import { eventually } from "../eventually.ts";
import type { Looks } from "../looks.ts";
import { type Panel, returned } from "../panel.ts";
import { step } from "../step.ts";
import { addServer } from "../workspaceServers.ts";

const device = "device";
const flash = "flash";
const camera = "camera";
const shoot = "shoot";
/** A title as long as many are. */
const lights = "Pictures of the northern lights of this week";

/**
 * Servers that all tasks share ask, and nothing proves for which task: while two of them wait, the person chooses one on the
 * card; where one task alone used the server, the button names it. One press files the question and answers it.
 */
export async function placeQuestion(
  page: Page,
  panel: Panel,
  looks: Looks,
  workspace: string,
): Promise<void> {
  const asked = join(workspace, "camera-asks");
  const shared = (name: string, ...args: readonly string[]) => ({
    command: process.execPath,
    args: [join(root, "scripts", "e2e", "placing", name), ...args],
    sharing: "shared",
  });
  await addServer(workspace, device, shared("deviceServer.mjs"));
  await addServer(workspace, camera, shared("cameraServer.mjs", asked));
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
    await looks.inEachSize(page, "inbox");
  });
  await step("the person chooses the task on the card, and answers with one press", async () => {
    const card = panel.unplaced(device);
    await panel.tabTo(card.getByRole("radio", { name: /^Left board/ }));
    await panel.press("ArrowDown");
    assert(await card.getByRole("radio", { name: /^Right board/ }).isChecked());
    await card.getByRole("textbox", { name: "Port" }).fill("8080");
    await panel.accept(card, "Submit, in “Right board”");
    await panel.leavePages();
    assert.equal(await returned(panel.call(device, flash)), "Flashed at port 8080.");
  });
  await step("a form that one task alone can have caused is answered with one press", async () => {
    await panel.newTask();
    await panel.rename(lights);
    await panel.startTool(camera, shoot);
    assert.equal(await returned(panel.call(camera, shoot)), "Taken.");
    await writeFile(asked, "");
    await panel.text("Keep the picture?").first().waitFor();
    await looks.inEachSize(page, "possible-ask");
    await panel.press("Alt+F8");
    const card = panel.unplaced(camera);
    await panel.focused(card).waitFor();
    await looks.inEachSize(page, "inbox-one");
    await panel.tabTo(card.getByRole("textbox", { name: "Name" }));
    await panel.type("dawn");
    await panel.accept(card, `Submit, in “${lights}”`);
    await panel.text("No question waits for you.").waitFor();
    await panel.leavePages();
    await panel.settled("You answered: Name: dawn, png").waitFor();
    const answer = await eventually("the server's answer", async () => {
      const text = await readFile(asked, "utf8");
      return text === "" ? undefined : JSON.parse(text);
    });
    assert.deepEqual(answer, { action: "accept", content: { name: "dawn", format: "png" } });
  });
}
