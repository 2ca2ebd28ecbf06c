// Where the extension meets VS Code itself: a workspace that is not trusted and then is, the walkthrough, a link that brings
// a server, and VS Code's chat.
import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { linkRegex, linksIn } from "../../extension/src/testing/linkedText.ts";
import {
  buildExampleServers,
  exampleServers,
  writeExampleWorkspace,
} from "../demo/exampleServers.ts";
import { hostTarget, vsixOf } from "../tools/lib/vsix.ts";
import { askInChat, chatPrompt } from "./chatParticipant.ts";
import { withPage } from "./chromium.ts";
import { startWorkbench, workbenchScript } from "./codeServer.ts";
import { confirmServers } from "./confirmServers.ts";
import { lookAtPackage } from "./packagePage.ts";
import { Panel } from "./panel.ts";
import { assertNoneLeft } from "./processes.ts";
import { choose, runCommand } from "./quickInput.ts";
import { takeScreenshot } from "./screenshots.ts";
import { setUpCodex } from "./setUpStory.ts";
import { step } from "./step.ts";
import { declineForm } from "./story.ts";
import { withTestModels } from "./testModels.ts";
import { answerForVsCodeChat } from "./vscodeChatStory.ts";

/** A server of the person's own settings, and one of the workspace's. */
const own = "mine";
const workspaces = "go-example";

await buildExampleServers();
const workbench = await step(
  "the packaged extension is installed, where workspaces are not trusted",
  () =>
    withTestModels((models) =>
      startWorkbench({
        extensions: [vsixOf(hostTarget()), models],
        settings: {
          "assent.model.provider": "demo",
          "assent.servers": { [own]: exampleServers["test-elicitation"] },
        },
        trust: true,
      }),
    ),
);
try {
  await writeExampleWorkspace(workbench.workspace);
  await withPage("home", { width: 1280, height: 1000 }, tell);
} finally {
  await workbench.stop();
  await assertNoneLeft(workbench.folder);
}

async function tell(page: Page): Promise<void> {
  await confirmServers(page);
  const view = page
    .frameLocator('iframe.webview.ready[src*="extensionId=assent.assent"]')
    .frameLocator("iframe#active-frame");
  const panel = new Panel(view, page.keyboard);

  await step(
    "in a workspace that is not trusted, only the person's own servers are there",
    async () => {
      await page.goto(workbench.url);
      await page.getByRole("button", { name: "Restricted Mode" }).first().waitFor();
      await page.getByRole("tab", { name: /^Assent/ }).click();
      await panel.text("Your servers can ask; you stay in control").waitFor();
      await runCommand(page, "Assent: Show MCP Servers");
      await panel.listedServer(own).waitFor();
      await panel.text("you have not trusted this workspace").waitFor();
      assert.equal(await panel.listedServer(workspaces).count(), 0);
      await takeScreenshot(page, "untrusted");
    },
  );
  await panel.newTask(() => runCommand(page, "Assent: New Task"));
  await declineForm(panel, own);
  await step("the walkthrough knows what is done already", async () => {
    await runCommand(page, "Assent: Get Started");
    await choose(page, "Open Walkthrough");
    const steps = page.locator(".gettingStartedContainer");
    await steps.getByText("Add a Server").waitFor();
    await steps.getByRole("checkbox", { name: /Add a Server.*Completed/ }).waitFor();
    await takeScreenshot(page, "walkthrough");
    await runCommand(page, "View: Close All Editors");
  });
  await lookAtPackage(page, panel, workbench);
  await step("a link's server is shown whole, and added when the person says so", async () => {
    const server = { name: "linked", ...exampleServers["go-example"] };
    await openUrl(page, `mcp/install?${encodeURIComponent(JSON.stringify(server))}`);
    await page
      .locator(".editor-instance")
      .getByText(/Nothing\shas\sbeen\swritten\syet/)
      .waitFor();
    await takeScreenshot(page, "link");
    await page.getByRole("option", { name: "Add This Server" }).click();
    await panel.serverPage("linked").getByText("stopped").waitFor();
    const settings = join(workbench.folder, "data", "Machine", "settings.json");
    assert.match(await readFile(settings, "utf8"), /"linked"/);
  });
  await step("a link that is not what it should be is refused with words", async () => {
    await openUrl(
      page,
      `mcp/install?${encodeURIComponent('{"name":"x","envFile":"/etc/passwd"}')}`,
    );
    await page.getByText("x has envFile, which a link must not set").first().waitFor();
  });
  await step("a command in a link's path is no link in the warning about it", async () => {
    const path = "[Update now](command:workbench.action.openSettings)";
    assert.equal(linksIn(path).length, 1);
    assert.ok(
      (await readFile(workbenchScript, "utf8")).includes(String(linkRegex)),
      "the extension's tests know how VS Code finds links",
    );
    await openUrl(page, encodeURIComponent(path));
    const warning = page.locator(".notification-list-item", { hasText: "Unknown link" });
    await warning.getByText("[Update now] (command:workbench.action.openSettings)").waitFor();
    assert.equal(await warning.locator(".notification-list-item-message a").count(), 0);
  });
  await step("once it is trusted, the workspace's servers are there", async () => {
    await runCommand(page, "Workspaces: Manage Workspace Trust");
    const trust = page.getByRole("button", { name: "Trust", exact: true });
    await trust.click();
    // A key pressed while VS Code removes the button is lost.
    await trust.waitFor({ state: "detached" });
    await page
      .getByRole("button", { name: "Restricted Mode" })
      .first()
      .waitFor({ state: "detached" });
    await runCommand(page, "Assent: Show MCP Servers");
    await panel.listedServer(workspaces).waitFor();
  });
  await step("VS Code's own file has servers here too, for as long as it names them", async () => {
    const file = join(workbench.folder, "data", "User", "mcp.json");
    await writeFile(file, JSON.stringify({ servers: { everywhere: { command: "no-such" } } }));
    await panel.listedServer("everywhere").waitFor();
    await rm(file);
    await panel.listedServer("everywhere").waitFor({ state: "detached" });
  });
  await askAboutSelection(page, panel);
  await page.keyboard.press("Escape"); // the page of the trust
  await page
    .getByRole("button", { name: /^Close/ })
    .last()
    .click();
  await panel.leavePages();
  await setUpCodex(page, panel, workbench);
  await answerForVsCodeChat(page, panel, own);
  await step(
    "@assent in VS Code's chat is a task, whose questions are in the panel, once",
    async () => {
      const { chat, questions } = await askInChat(page);
      await takeScreenshot(page.locator(".part.auxiliarybar"), "participant");
      const count = page.getByRole("button", { name: /^Assent: \d+ open question/ });
      await count.waitFor();
      await questions.first().click();
      await panel.text(chatPrompt).first().waitFor();
      await chat
        .getByRole("button", { name: /^(Cancel|Stop)/ })
        .first()
        .click();
      await count.waitFor({ state: "detached" });
    },
  );
}

/** A selection in an editor is put into the composer, after the typed text. The person sends it. */
async function askAboutSelection(page: Page, panel: Panel): Promise<void> {
  await step("a selection is quoted in the composer, and nothing is sent", async () => {
    await panel.newTask(() => runCommand(page, "Assent: New Task"));
    await panel.message().fill("What does this do?");
    await runCommand(page, "Assent: Open MCP Configuration");
    await page.getByRole("tab", { name: "mcp.json" }).waitFor();
    await runCommand(page, "Select All");
    await page.locator(".editor-instance .view-lines").first().click({ button: "right" });
    // By key: a menu that has only just opened takes a click for the end of the one that opened it.
    await page.getByRole("menuitem", { name: "Ask Assent About This" }).hover();
    await page.keyboard.press("Enter");
    await panel.focused(panel.message()).waitFor();
    const message = await panel.message().inputValue();
    assert.match(
      message,
      /^What does this do\?\n\n`\.vscode\/mcp\.json`, lines 1 to \d+:\n\n```jsonc?\n/,
    );
    assert.match(message, /The example servers of Assent/);
    await panel.message().fill("");
  });
}

/** Follows a link as the system would. */
async function openUrl(page: Page, rest: string): Promise<void> {
  await runCommand(page, "Developer: Open URL");
  const input = page.locator(".quick-input-widget input[type=text]");
  await input.fill(`code-oss://assent.assent/${rest}`);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Open", exact: true }).click();
}
