import type { Page } from "playwright-core";
import type { Looks } from "./looks.ts";
import type { Panel } from "./panel.ts";
import { step } from "./step.ts";
import { addServer } from "./workspaceServers.ts";

const broken = "broken";

/** Looks at the lists and pages of the panel, with a server that does not start. */
export async function lookAround(
  page: Page,
  panel: Panel,
  looks: Looks,
  workspace: string,
): Promise<void> {
  await step("the lists, a server's failure, the search and the runner are flawless", async () => {
    await addServer(workspace, broken, { command: process.execPath, args: ["missing.mjs"] });
    await panel.chooseInHead("Find in Task");
    await page.getByRole("textbox", { name: "Find in this task" }).fill("picture");
    await panel.text(/^1 of \d+$/).waitFor();
    await looks.inEachSize(page, "search");
    await panel.press("Escape");
    await panel.newTask();
    await looks.inEachSize(page, "empty");
    await panel.chooseInHead("Servers");
    await panel.listedServer(broken).waitFor();
    await looks.inEachSize(page, "servers");
    await panel.listedServer(broken).click();
    const failed = panel.serverPage(broken);
    await failed.getByRole("button", { name: "Start", exact: true }).click();
    await failed.getByText(/^Build the server or install its packages/).waitFor();
    await looks.inEachSize(page, "server-failed");
    await panel.leavePages();
    await panel.chooseInHead("Automatic Answers");
    await panel.policy().getByText("Limits", { exact: true }).click();
    await looks.inEachSize(page, "policy");
    await panel.leavePages();
    await page.locator(".task-title").click();
    await page.getByRole("listbox", { name: "Tasks" }).waitFor();
    await looks.inEachSize(page, "tasks");
    await panel.press("Escape");
    await panel.useServer("test-elicitation");
    await looks.inEachSize(page, "runner");
    await page.getByRole("button", { name: /^Use a Server/ }).click();
  });
}
