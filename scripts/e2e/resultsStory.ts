import assert from "node:assert/strict";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { root } from "../tools/lib/paths.ts";
import type { Looks } from "./looks.ts";
import type { Panel } from "./panel.ts";
import { step } from "./step.ts";
import { addServer } from "./workspaceServers.ts";

const server = "results";

/** Looks at what tools return: tables, trees, pictures, sounds and links. */
export async function lookAtResults(
  page: Page,
  panel: Panel,
  looks: Looks,
  workspace: string,
): Promise<void> {
  const program = join(root, "scripts", "testservers", "results.mjs");
  await addServer(workspace, server, { command: process.execPath, args: [program] });
  const run = async (tool: string): Promise<Locator> => {
    await panel.startTool(server, tool, {}, "Tools");
    const call = panel.call(server, tool);
    await call.getByText(/^done/).waitFor();
    return call;
  };
  await step("structured results are tables, which say what is not as declared", async () => {
    await panel.newTask();
    const people = await run("people");
    await people.getByRole("cell", { name: "Grace Hopper" }).waitFor();
    assert.equal(await people.locator("pre").count(), 0, "the text that repeats it is not shown");
    const wrong = await run("wrong");
    await wrong.getByText("total is a text, and must be a whole number.").waitFor();
    await looks.inEachSize(page, "results-table");
  });
  await step("what is no table is a tree, or JSON", async () => {
    await panel.newTask();
    const tree = await run("tree");
    await tree.getByText("Structured result").click();
    await tree.locator("summary", { hasText: "address" }).click();
    await tree.getByText("London").waitFor();
    await looks.inEachSize(page, "results-tree");
    await tree.getByRole("button", { name: "Raw JSON" }).click();
    await tree.getByText(/"city": "London"/).waitFor();
  });
  await step("a picture is enlarged, a sound can be played, a link is read", async () => {
    await panel.newTask();
    const media = await run("media");
    const audio = media.locator("audio");
    const seconds = await audio.evaluate(
      (element) =>
        new Promise<number>((resolve) => {
          const sound = element as unknown as { readonly duration: number } & EventTarget;
          if (sound.duration > 0) resolve(sound.duration);
          sound.addEventListener("loadedmetadata", () => resolve(sound.duration));
        }),
    );
    assert.equal(seconds, 1, "the page's policy lets the sound play");
    await media.getByText("1 part that the server marks for the model alone").waitFor();
    await looks.inEachSize(page, "results-media");
    await media.getByRole("button", { name: /^Enlarge: / }).press("Enter");
    const dialog = page.getByRole("dialog", { name: /^From the server/ });
    await dialog.waitFor();
    await looks.inEachSize(page, "results-enlarged");
    await panel.press("+", "+", "+", "Escape");
    await dialog.waitFor({ state: "detached" });
    await panel.focused(media.getByRole("button", { name: /^Enlarge: / })).waitFor();
    await media.getByRole("button", { name: "Read the resource Release Notes" }).click();
    await panel.reading(server, "memo://release-notes").getByText("Version 2 is out.").waitFor();
  });
  await step("a result of 5 MB leaves the panel usable", async () => {
    await panel.newTask();
    const large = await run("large");
    await large.getByText("Structured result").click();
    await large.getByRole("button", { name: "Show more (50 of 40,000 are shown)" }).click();
    await large.getByRole("button", { name: "Show more (250 of 40,000 are shown)" }).waitFor();
    await large.getByRole("button", { name: "Raw JSON" }).click();
    await large
      .getByRole("button", { name: /^Show more \(20,000 of / })
      .last()
      .waitFor();
  });
}
