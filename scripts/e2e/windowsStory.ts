import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { eventually } from "./eventually.ts";
import { type Panel, returned } from "./panel.ts";
import { photograph } from "./screenshots.ts";
import { step } from "./step.ts";
import { beginForm, goServer as modern, server } from "./story.ts";

const trip = "plan_trip";
const title = "In two windows";

/** A window of the workbench. */
interface Window {
  readonly page: Page;
  readonly panel: Panel;
}

/** What the story needs of the workbench that it is told in. */
export interface Stage extends Window {
  readonly newTask: () => Promise<void>;
  /** Opens another window on the same folder, with the panel in sight. */
  readonly openWindow: () => Promise<Window>;
  /** How many sidecars there are, and the folders of their stores. */
  readonly sidecars: () => Promise<{ readonly count: number; readonly folders: readonly string[] }>;
}

/** Two windows on one folder, each with a sidecar of its own, and one conversation. */
export async function tellWindows(stage: Stage): Promise<void> {
  const { panel, newTask, openWindow, sidecars } = stage;
  await newTask();
  await step("a conversation has two half-filled forms, of both eras", async () => {
    await beginForm(panel);
    await panel.runTool(modern, trip, { destination: "Porto" }, "Tools");
    await panel.waiting(`${modern} asks`).click();
    await panel.form(modern).getByLabel(/^Name/).fill("Ada");
    await panel.rename(title);
  });
  const other = await step(
    "another window has a sidecar of its own on the same store",
    async () => {
      const opened = await openWindow();
      const { count, folders } = await sidecars();
      assert.equal(count, 2);
      assert.equal(new Set(folders).size, 1, `both use one folder: ${folders.join(", ")}`);
      return opened;
    },
  );
  try {
    await follow(stage, other);
    await takeOver(stage, other);
  } finally {
    await other.page.close();
  }
  await step("a window that is closed takes its sidecar with it", async () => {
    await eventually("the end of its sidecar", async () => {
      const { count } = await sidecars();
      return count === 1 || undefined;
    });
  });
}

/** The other window shows the questions of the first, and how they end. */
async function follow({ panel }: Stage, other: Window): Promise<void> {
  await step("the other window shows both forms as live elsewhere", async () => {
    await other.panel.openTask(title);
    await other.panel.banner("Live in another window").waitFor();
    for (const asker of [server, modern]) {
      await other.panel.elsewhere(`${asker} asks`).click();
      await other.panel.form(asker).getByText("Waits in another window.").waitFor();
      assert.equal(await other.panel.form(asker).getByRole("textbox").count(), 0);
    }
  });
  await photograph(other.page, "elsewhere");
  await step("the other window follows what is answered in the first", async () => {
    await panel.runTool(modern, "two_questions", {}, "Tools");
    const approval = other.panel.approval(modern);
    await other.panel.elsewhere(`${modern} wants a completion`).click();
    await approval.getByText("Waits in another window.").waitFor();
    await panel.waiting(`${modern} wants a completion`).click();
    await panel.approval(modern).getByRole("button", { name: "Decline", exact: true }).click();
    await other.panel.settledApproval(modern).getByText("Declined").waitFor();
  });
}

/** The other window goes on with what can be gone on with, and the first one knows. */
async function takeOver({ page, panel }: Stage, other: Window): Promise<void> {
  const form = other.panel.form(modern).filter({ hasText: "A few questions about your trip" });
  await step("the task is continued in the other window, with what was typed", async () => {
    await other.panel.banner("Live in another window").getByRole("button").click();
    await other.panel.waiting(`${modern} asks`).first().click();
    await form.getByLabel(/^Departure/).waitFor();
    assert.equal(await form.getByLabel(/^Name/).inputValue(), "Ada");
    await other.panel
      .settledForm(server)
      .getByText("Its task was taken over in another window")
      .waitFor();
  });
  await step("the first window says that the task has moved", async () => {
    await panel.banner("This task has moved to another window").waitFor();
    await panel.settledForm(server).getByText("What you had typed was not sent").waitFor();
  });
  await photograph(page, "taken-over");
  await step("the form is answered in the other window, and its call ends", async () => {
    await form.getByLabel(/^Departure/).fill("2026-12-24");
    await form.getByRole("button", { name: "Submit" }).click();
    const text = await returned(other.panel.call(modern, trip));
    assert.match(text, /^accept: .*"traveller":"Ada"/);
    assert.match(await returned(panel.call(modern, trip)), /"traveller":"Ada"/);
  });
}
