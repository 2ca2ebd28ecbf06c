import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { type ExtensionWindow, legacy } from "./extensionWindow.ts";
import { type Panel, returned } from "./panel.ts";
import { runCommand } from "./quickInput.ts";
import { photograph } from "./screenshots.ts";
import { step } from "./step.ts";

/** The server of MCP tasks in the newest era of MCP. */
const modern = "test-tasks";

const job = "plan_journey";

/** In the command lines of these servers. */
const servers = "testservers/tasks.mjs";

/** Long jobs of servers, in both eras: seen, answered, cancelled, found again, and outlived. */
export async function tellMcpTasks(window: ExtensionWindow): Promise<void> {
  await finishJob(window);
  await cancelJob(window);
  await findJob(window);
  await outliveSidecar(window);
  await followFound(window);
  await openPages(window);
}

/** A job is seen to work, and leaves room for other calls; another one asks twice, and ends. */
async function finishJob({ page, panel, newTask }: ExtensionWindow): Promise<void> {
  await newTask();
  await step("an MCP task tells what it does while another tool is used", async () => {
    // It would take ten minutes.
    await panel.runTool(modern, "count", { "Count to": "1000", "Milliseconds a step": "600" });
    const call = panel.call(modern, "count");
    await call.getByText(/^working [1-9]\d* s$/).waitFor();
    await call.getByText(/^Counted [1-9]\d* of 1000$/).waitFor();
    await panel.startTool(modern, "quick");
    assert.equal(await returned(panel.call(modern, "quick")), "That was quick.");
    await call.getByRole("button", { name: "Cancel" }).click();
    await call.getByText("Cancelled before it ended.").waitFor();
  });
  await step("an MCP task waits for input", async () => {
    await beginJob(panel, modern, "Lisbon", 150);
    await panel
      .call(modern, job)
      .getByText(/^waiting for input/)
      .waitFor();
  });
  await photograph(page, "mcp-task-waits");
  await step("an MCP task asks twice, and ends with what it was told", async () => {
    await answerJob(panel, modern, "friday", "Window");
    const text = await returned(panel.call(modern, job));
    assert.equal(text, told("Lisbon", "friday", "window", 1));
  });
}

/** A job that is cancelled has ended only when its server says so. */
async function cancelJob({ page, panel, newTask, whileStopped }: ExtensionWindow): Promise<void> {
  await newTask();
  await panel.runTool(legacy, "count", { "Count to": "1000", "Milliseconds a step": "600" });
  const call = panel.call(legacy, "count");
  await step("an MCP task shows how far it is", async () => {
    await call.getByRole("progressbar").waitFor();
    await call.getByText(/^[1-9]\d* so far$/).waitFor();
  });
  await photograph(page, "mcp-task-working");
  await step("an MCP task is cancelled with the keyboard, when the server says so", async () => {
    await whileStopped(servers, async () => {
      await panel.tabTo(call.getByRole("button", { name: "Cancel" }), "Shift+Tab");
      await panel.press("Enter");
      await call.getByText("Waiting for the server to cancel.").waitFor();
      await call.getByRole("button", { name: "Give Up" }).waitFor();
      assert(await call.getByText(/^cancelling/).isVisible(), "the server has not said so yet");
    });
    await call.getByText("Cancelled before it ended.").waitFor();
    await call.getByText("Waiting for the server to cancel").waitFor({ state: "detached" });
  });
  await photograph(page, "mcp-task-cancelled");
}

/** Leaves a job of each era at its first question, in one conversation. */
async function findJob({ page, panel, newTask }: ExtensionWindow): Promise<void> {
  await newTask();
  await step("the list of MCP tasks leads from another conversation to a job", async () => {
    await beginJob(panel, modern, "Porto", 150);
    await beginJob(panel, legacy, "Faro", 150);
    await panel.waiting(`${modern} asks`).waitFor();
    await panel.waiting(`${legacy} asks`).waitFor();
    await newTask();
    await runCommand(page, "Assent: Show MCP Tasks");
    const list = panel.mcpTasks();
    await list.getByRole("button", { name: /^plan_journey of test-tasks waiting/ }).waitFor();
    await list
      .getByRole("button", { name: /^plan_journey of test-tasks-legacy waiting/ })
      .waitFor();
  });
  await photograph(page, "mcp-tasks");
  await step("the list of MCP tasks leads to a row", async () => {
    await panel
      .mcpTasks()
      .getByRole("button", { name: /^plan_journey of test-tasks-legacy waiting/ })
      .click();
    await panel.focused(panel.call(legacy, job)).waitFor();
  });
}

/** The answers that the server got, without the names of their tasks. */
function withoutRelatedTask(text: string): string {
  return text.replaceAll(
    /"_meta":\{"io\.modelcontextprotocol\/related-task":\{"taskId":"[^"]+"\}\},/g,
    "",
  );
}

/** The jobs and their open questions are there still when the sidecar was killed. */
async function outliveSidecar({ panel, killSidecar }: ExtensionWindow): Promise<void> {
  await step("jobs and their open questions outlive a killed sidecar", async () => {
    const question = panel.form(modern).getByLabel("Day");
    await panel.waiting(`${modern} asks`).click();
    await question.selectOption("sunday");
    await killSidecar();
    for (const server of [modern, legacy]) {
      await panel
        .call(server, job)
        .getByText(/^waiting for input/)
        .waitFor();
    }
    const chosen = await question.locator("option:checked").textContent();
    assert.equal(chosen, "sunday", "it is the same question, with what was filled in");
    await answerJob(panel, legacy, "monday", "Aisle");
    await answerJob(panel, modern, "sunday", "Window");
    const ofModern = await returned(panel.call(modern, job));
    assert.equal(ofModern, told("Porto", "sunday", "window", 1));
    // A server of 2025-11-25 asks again on a new connection, but the person is not asked again.
    const ofLegacy = await returned(panel.call(legacy, job));
    assert.equal(withoutRelatedTask(ofLegacy), told("Faro", "monday", "aisle", 2));
  });
}

/** The server of the older era lists the jobs of the other one, too, with which it shares a folder. */
async function followFound({ panel, page, newTask }: ExtensionWindow): Promise<void> {
  await newTask();
  await step("a job that only its server knows is followed to its end", async () => {
    await runCommand(page, "Assent: Show MCP Tasks");
    const found = panel
      .mcpTasks()
      .getByRole("region", { name: "Only on the servers" })
      .getByRole("listitem")
      .filter({ hasText: legacy })
      .filter({ hasText: "completed" });
    await found
      .getByRole("button", { name: /^Follow in This Task/ })
      .first()
      .click();
    const call = panel.call(legacy, "Found MCP task");
    await panel.focused(call).waitFor();
    assert.equal(await returned(call), told("Lisbon", "friday", "window", 1));
  });
}

/** A call that wants two pages opened first. The person says that one is done when it is not. */
async function openPages({ page, panel, newTask }: ExtensionWindow): Promise<void> {
  await newTask();
  const terms = panel.page(legacy, "Accept the terms.");
  const address = panel.page(legacy, "Confirm your address.");
  await step("a call waits for two pages", async () => {
    await panel.startTool(legacy, "open_account");
    await terms.waitFor();
    await panel.text("1 of 2").waitFor();
  });
  await photograph(page, "pages");
  const visit = async (consent: Locator, words: string): Promise<void> => {
    const opened = page.waitForEvent("popup");
    await consent.getByRole("button", { name: "Open in Browser" }).click();
    const popup = await opened;
    await popup.getByText(words).waitFor();
    await popup.close();
  };
  await step("a page is opened by VS Code, and its server says that it is done", async () => {
    await visit(terms, "Confirmed.");
    await panel.text("The server reported completion").waitFor();
  });
  await step("a page that is marked as done too early is asked for again", async () => {
    const pages = /\/confirm\?/;
    await page.context().route(pages, (route) => route.fulfill({ body: "Come back later." }));
    await visit(address, "Come back later.");
    await page.context().unroute(pages);
    await address.getByText("Waiting for you to finish at 127.0.0.1.").waitFor();
    await address.getByRole("button", { name: "Done" }).click();
    await panel.text(/ and marked it as done$/).waitFor();
    await visit(address, "Confirmed.");
    const text = await returned(panel.call(legacy, "open_account"));
    assert.equal(text, "The account is open: both pages were confirmed.");
  });
}

async function beginJob(
  panel: Panel,
  server: string,
  destination: string,
  stepMs: number,
): Promise<void> {
  await panel.runTool(server, job, {
    Destination: destination,
    "Milliseconds a step": String(stepMs),
  });
}

async function answerJob(panel: Panel, server: string, day: string, seat: string): Promise<void> {
  const form = panel.form(server);
  await panel.waiting(`${server} asks`).click();
  await form.getByLabel("Day").selectOption(day);
  await panel.approve(form, "Submit");
  // Another question may come before the person then.
  await form.getByLabel("Day").waitFor({ state: "detached" });
  await panel.waiting(`${server} asks`).click();
  await form.getByRole("radio", { name: seat }).check();
  await panel.approve(form, "Submit");
}

/** The answers that a job reports, and how often it asked for the day. */
function told(destination: string, day: string, seat: string, asked: number): string {
  const accepted = (content: object): string => JSON.stringify({ action: "accept", content });
  return [
    `The journey to ${destination} is planned.`,
    `day: ${accepted({ day })}, asked ${asked}, answered 1`,
    `seat: ${accepted({ seat })}, asked 1, answered 1`,
  ].join("\n");
}
