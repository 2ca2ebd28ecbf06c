import type { Page } from "playwright-core";
import type { Panel } from "./panel.ts";
import { runCommand } from "./quickInput.ts";
import { takeScreenshot } from "./screenshots.ts";
import { step } from "./step.ts";

/** VS Code's own chat calls a tool of a server of the settings. The server's form is answered in the panel. */
export async function answerForVsCodeChat(page: Page, panel: Panel, server: string): Promise<void> {
  const chat = page.locator(".interactive-session");
  await step("VS Code's own chat is offered the servers of the settings", async () => {
    await runCommand(page, "MCP: List Servers");
    const listed = page.getByRole("option", { name: new RegExp(`^${server}`) });
    await listed.filter({ hasText: "Assent" }).waitFor();
    await page.keyboard.press("Escape");
    await listed.first().waitFor({ state: "hidden" });
  });
  await step("its agent's tool asks in the panel, which opens by itself", async () => {
    // The list of models wakes VS Code's agent.
    await runCommand(page, "Chat: Manage Language Models");
    const models = page.getByText("Context Size");
    await models.waitFor();
    await page.keyboard.press("Escape");
    await models.waitFor({ state: "detached" });
    await runCommand(page, "Chat: Open Chat");
    await page.getByRole("tab", { name: /^Explorer/ }).click();
    await callTool(page, "ask_user_preferences");
    await chat
      .locator(".chat-confirmation-widget2 .monaco-button")
      .filter({ hasText: "Allow in this Session" })
      .click();
    const form = panel.form(server);
    await form.waitFor();
    await page.keyboard.type("I go on typing");
    await chat.locator(".interactive-input-part").getByText("I go on typing").waitFor();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.press("Delete");
  });
  await step("its form is answered in the panel, and the agent gets the answer", async () => {
    const form = panel.form(server);
    await form.getByRole("radio", { name: "markdown" }).check();
    await takeScreenshot(page, "vscode-chat");
    await panel.approve(form, "Submit");
    await chat.getByText(/It returned: .*"action":\s*"accept".*markdown/s).waitFor();
    await runCommand(page, "View: Toggle Secondary Side Bar Visibility");
  });
}

/** Has VS Code's agent call a tool. Until the agent is awake, VS Code asks for a login instead. */
async function callTool(page: Page, tool: string): Promise<void> {
  const chat = page.locator(".interactive-session");
  const approval = chat.locator(".chat-confirmation-widget2").first();
  const login = page.getByText("Sign in to use GitHub Copilot");
  for (;;) {
    await chat.locator(".interactive-input-part .monaco-editor").first().click();
    await page.keyboard.insertText(`Call ${tool}`);
    await chat.getByRole("button", { name: /^Send/ }).click();
    await approval.or(login).first().waitFor();
    if (!(await login.isVisible())) return;
    await page.keyboard.press("Escape");
    await login.waitFor({ state: "detached" });
  }
}
