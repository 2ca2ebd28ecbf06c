import assert from "node:assert/strict";
import { exampleServers } from "../demo/exampleServers.ts";
import { eventually } from "./eventually.ts";
import type { ExtensionWindow } from "./extensionWindow.ts";
import { returned } from "./panel.ts";
import { step } from "./step.ts";
import { beginForm, server as example, goServer as modern } from "./story.ts";

const trip = "plan_trip";
const title = "In two windows";
const older = "older-era";
const olderVersion = "2025-06-18";

/** The server of the older era. A person's settings must have it. */
export const olderServer = {
  [older]: {
    ...exampleServers[example],
    args: [...exampleServers[example].args, "--era", olderVersion],
  },
};

/** Two windows on one folder, and one on another: the same conversation in both, and one daemon for all. */
export async function tellWindows(first: ExtensionWindow): Promise<void> {
  const { panel, newTask, openWindow, processes } = first;
  await newTask();
  await step("a conversation has two half-filled forms, of both eras", async () => {
    await beginForm(panel, older);
    await (await panel.useServer(older)).getByText(`MCP ${olderVersion}`).waitFor();
    await panel.runTool(modern, trip, { destination: "Porto" }, "Tools");
    await panel.waiting(`${modern} asks`).click();
    await panel.form(modern).getByLabel(/^Name/).fill("Ada");
    await panel.rename(title);
  });
  const [other, elsewhere] = await step(
    "one daemon serves the windows of all folders",
    async () => {
      const opened = await Promise.all([openWindow(), openWindow("elsewhere")]);
      assert.deepEqual(await processes(), { relays: 3, daemons: 1 });
      return opened;
    },
  );
  await step("the questions are open in the other window, with what was typed", async () => {
    await other.panel.openTask(title);
    const form = other.panel.form(modern).filter({ hasText: "A few questions about your trip" });
    await other.panel.waiting(`${modern} asks`).click();
    await form.getByLabel(/^Departure/).fill("2026-12-24");
    assert.equal(await form.getByLabel(/^Name/).inputValue(), "Ada");
    await panel.approve(form, "Submit");
  });
  await step("each window shows what came of the answer", async () => {
    for (const window of [other, first]) {
      const text = await returned(window.panel.call(modern, trip));
      assert.match(text, /^accept: .*"traveller":"Ada"/);
    }
    await panel.form(modern).waitFor({ state: "detached" });
  });
  await step("a window on another folder has tasks of its own", async () => {
    await elsewhere.panel.text("Your servers can ask; you stay in control").waitFor();
  });
  await step("closed windows end nothing: the question of the older era is answered", async () => {
    await Promise.all([other.page.close(), elsewhere.page.close()]);
    await eventually("the end of their relays", async () => {
      const { relays, daemons } = await processes();
      return (relays === 1 && daemons === 1) || undefined;
    });
    await panel.form(older).getByRole("button", { name: "Decline", exact: true }).click();
    await returned(panel.call(older, "ask_user_preferences"));
  });
}
