// The packaged extension in the real VS Code workbench: the main path, every way out of an ask, a
// killed daemon, several windows, and the places where VS Code itself tells of open asks.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JournalRecord } from "@assent/protocol";
import { exampleServers } from "../demo/exampleServers.ts";
import { tellAttachments } from "./attachStory.ts";
import { byTyping, cleanUp, declineCleanUp, stopAndResend } from "./chatStory.ts";
import { type ExtensionWindow, withExtension } from "./extensionWindow.ts";
import { misfits } from "./looks.ts";
import { processesMarked } from "./processes.ts";
import { choose, runCommand, tick } from "./quickInput.ts";
import { photograph, resizeSideBar, takeScreenshot } from "./screenshots.ts";
import { lookAtServer } from "./serversStory.ts";
import { step } from "./step.ts";
import {
  allowCompletions,
  answerTwoQuestions,
  approveCompletion,
  beginCompletion,
  beginForm,
  cancelCall,
  cancelForm,
  declineForm,
  denyCompletion,
  editCompletion,
  fillInForm,
  fillInPrompt,
  letModelAnswer,
  readResources,
  redactSecret,
  server,
} from "./story.ts";
import { olderServer, tellWindows } from "./windowsStory.ts";

/** A server of the person's settings, which does not start without a value that they type. */
const secretive = "secretive";

/** A server that another program has configured. */
const imported = "from-elsewhere";

await withExtension(
  {
    name: "workbench",
    servers: {
      ...olderServer,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of mcp.json's.
      [secretive]: { ...exampleServers[server], env: { KEY: "${input:key}" } },
    },
    settings: {
      "assent.inputs": [{ id: "key", type: "promptString", description: "The key of the shed" }],
    },
    prepare: ({ folder }) => configureAnotherProgram(folder),
  },
  tell,
);

/** A server of another program, and one with a name that is taken already. */
async function configureAnotherProgram(folder: string): Promise<void> {
  const cursor = join(folder, "home", ".cursor");
  const mcpServers = {
    [imported]: { ...exampleServers["go-example"], env: { API_TOKEN: "hunter2-hunter2-hunter2" } },
    "go-example": exampleServers["go-example"],
  };
  await mkdir(cursor, { recursive: true });
  await writeFile(join(cursor, "mcp.json"), JSON.stringify({ mcpServers }));
}

async function tell(window: ExtensionWindow): Promise<void> {
  const { page, panel, workbench, newTask } = window;
  await step("a command opens the configuration", async () => {
    await runCommand(page, "Assent: Open MCP Configuration");
    await page.getByRole("tab", { name: "mcp.json" }).waitFor();
    await runCommand(page, "View: Close All Editors");
  });
  await step("a command starts a task", newTask);
  await fillInForm(panel);
  await approveCompletion(panel);
  await editCompletion(panel);
  await allowCompletions(panel);
  await step("a command lists the automatic answers, with the grants that ended", async () => {
    await runCommand(page, "Assent: Show Automatic Answers");
    const list = panel.policy();
    await list.getByText("1 ended").click();
    await list.getByText("revoked").waitFor();
    await list.getByText("2 of 12").waitFor();
    await photograph(page, "policy");
    await panel.leavePages();
  });
  await step("a command lists the servers", async () => {
    await runCommand(page, "Assent: Show MCP Servers");
    await panel.servers().getByText("running").first().waitFor();
  });
  await lookAtServer(panel);
  await photograph(page, "server");
  await panel.leavePages();
  await step("a command shows the journal, and exports all of it", async () => {
    await runCommand(page, "Assent: Show or Export Journal");
    await choose(page, "Everything");
    await choose(page, "Show in an Editor");
    const shown = page.locator(".editor-instance");
    await shown
      .getByText(/tools\/call\sask_user_preferences/)
      .first()
      .waitFor();
    await shown
      .getByText(/answered\sin\sVS\sCode/)
      .first()
      .waitFor();
    await takeScreenshot(page, "journal");
    await runCommand(page, "View: Close All Editors");
    await exportJournal(window);
  });
  await redactSecret(panel);
  await declineForm(panel);
  await cancelForm(panel);
  await denyCompletion(panel);
  await letModelAnswer(
    panel,
    "Test parrot",
    /^LLM response: You said: What is sampling\? \(at most 500 tokens\)$/,
  );
  await photograph(page, "conversation");
  await newTask();
  await readResources(panel);
  await fillInPrompt(panel);
  await cancelCall(panel);
  await answerTwoQuestions(panel);
  await panel.useServer("go-example", "Resources");
  await photograph(page, "offers");

  await step("a server of the settings asks for its input, and asks once", async () => {
    const value = randomUUID();
    const prompt = page.locator(".quick-input-widget").filter({ hasText: "The key of the shed" });
    const answerPrompt = async (): Promise<void> => {
      await prompt.locator(".quick-input-box input").fill(value);
      await page.keyboard.press("Enter");
    };
    await newTask();
    await Promise.all([declineForm(panel, secretive), answerPrompt()]);
    // A task has its own connection to such a server, so the server starts twice.
    await newTask();
    await declineForm(panel, secretive);
    assert.equal((await processesMarked(`KEY=${value}`)).length, 2);
  });
  // A conversation may use all servers, also the one that asked for its input just now.
  const database = join(workbench.workspace, "users.db");
  await newTask();
  await declineCleanUp(panel, database, byTyping);
  await newTask();
  await cleanUp(panel, database, async (moment) => {
    if (moment === "filled") await photograph(page, "clean-up");
  });
  await stopAndResend(panel);
  await photograph(page, "chat");
  await tellAttachments(window);
  await newTask();

  await step("the badge counts open asks, and a draft outlives the hidden panel", async () => {
    await beginForm(panel);
    await window.badge("1 open question").waitFor();
    await beginCompletion(panel);
    await window.badge("2 open questions").waitFor();
    await window.hide();
    await window.container.click();
    assert(await panel.form(server).getByRole("radio", { name: "markdown" }).isChecked());
  });
  await step("the status bar counts open asks, and keys lead from one to the next", async () => {
    const status = page.getByRole("button", { name: "Assent: 2 open questions" });
    await status.click();
    await panel.focused(panel.openAsks().first()).waitFor();
    await panel.press("Enter");
    await panel.focused(panel.form(server)).waitFor();
    await panel.press("Alt+F8");
    await panel.focused(panel.approval(server)).waitFor();
    await panel.press("Shift+Alt+F8");
    await panel.focused(panel.form(server)).waitFor();
    await runCommand(page, "Assent: Show Open Questions");
    await panel.focused(panel.openAsks().first()).waitFor();
    await photograph(page, "inbox");
    await panel.openAsks().nth(1).click();
    await panel.focused(panel.approval(server)).waitFor();
  });
  await step("every page fits the side bar of a small window, with a question open", async () => {
    await fitInSmallWindow(window);
  });
  await photograph(page, "asks");
  await step("a picture shows who has the request", async () => {
    await panel.showDiagram();
    await panel.picture(/^With you/, "person").scrollIntoViewIfNeeded();
  });
  await photograph(page, "picture");
  await step("a killed sidecar is started again and says what became of the asks", async () => {
    await window.killSidecar();
    await panel.settled("Assent stopped while this was open").waitFor();
    await panel.settled("You typed this, but it was not sent").waitFor();
    await panel.settled(/Assent stopped while this was open: What is sampling/).waitFor();
    await panel.call(server, "ask_user_preferences").getByText("lost").waitFor();
    await window.badge("open question").waitFor({ state: "detached" });
  });
  await photograph(page, "killed");
  await fillInForm(panel);

  await step("asks that come while the panel is hidden make one notification", async () => {
    // A server that is stopped asks no sooner than it may go on.
    await window.whileStopped("testservers/elicitation.mjs", async () => {
      await panel.runTool(server, "ask_user_preferences");
      await panel.runTool(server, "request_llm_help", { Question: "Anything?" });
      await window.hide();
    });
    // On a busy machine, the notification may come before the second question.
    const told = new RegExp(`^${server} (asks|wants to ask a model)`);
    await page.getByText(told).first().waitFor();
    await page.getByRole("button", { name: "Assent: 2 open questions" }).waitFor();
    await page.getByRole("button", { name: "Show", exact: true }).click(); // there is one
    await panel.focused(panel.form(server)).waitFor();
  });
  await newTask();
  await step("a reload with the panel hidden serves what is open", async () => {
    await panel.runTool("test-tasks", "plan_journey", {
      Destination: "Evora",
      "Milliseconds a step": "150",
    });
    const form = panel.form("test-tasks");
    await form.waitFor();
    await window.reloadHidden();
    // Those of the task before are of an older era, and open still.
    const status = page.getByRole("button", { name: "Assent: 3 open questions" });
    await status.waitFor();
    assert.notEqual(await window.container.getAttribute("aria-expanded"), "true", "it is hidden");
    await status.click();
    await panel.openAsks().last().click();
    await form.getByRole("button", { name: "Decline", exact: true }).click();
    // The tool asks another question soon, in a form of the same name.
    await form.getByText("Which day do you want to travel?").waitFor({ state: "detached" });
  });
  await tellWindows(window);
  await step("a server of another program is shown whole, then imported, and runs", async () => {
    await runCommand(page, "Assent: Get Started");
    await choose(page, "Import MCP Servers");
    await page.getByPlaceholder(/Already configured: /).waitFor();
    await tick(page, imported);
    await page.keyboard.press("Enter");
    const preview = page.locator(".editor-instance").getByText(/Nothing\shas\sbeen\swritten\syet/);
    await preview.waitFor();
    const configuration = join(workbench.workspace, ".vscode", "mcp.json");
    assert(!(await readFile(configuration, "utf8")).includes(imported), "nothing is written yet");
    await takeScreenshot(page, "import");
    await page.getByRole("option", { name: "Add This Server" }).click();
    await page.getByRole("tab", { name: "mcp.json" }).waitFor();
    await preview.waitFor({ state: "detached" });
    const text = await readFile(configuration, "utf8");
    assert.match(text, /from-elsewhere/);
    assert.match(text, /The example servers of Assent/, "the file's comments stay");
    await panel.newTask(() => runCommand(page, "Assent: New Task"));
    const runner = await panel.useServer(imported);
    await runner.getByRole("tab", { name: "Prompts" }).waitFor();
  });
}

/** Opens every page in the side bar of a window of 1280 x 800. */
async function fitInSmallWindow({ page, panel, frame }: ExtensionWindow): Promise<void> {
  const before = page.viewportSize() ?? assert.fail("the window has no size");
  const fits = async (state: string) => {
    await takeScreenshot(page, `small-${state}`);
    assert.deepEqual(await misfits(await frame()), [], state);
  };
  await page.setViewportSize({ width: 1280, height: 800 });
  await resizeSideBar(page, 300);
  await fits("question");
  for (const [command, heading] of [
    ["Show Open Questions", "Open questions"],
    ["Show MCP Tasks", "MCP tasks"],
    ["Show Automatic Answers", "Automatic Answers"],
    ["Set Up Hosts", "Set Up Hosts"],
    ["Show MCP Servers", "Servers"],
  ] as const) {
    await runCommand(page, `Assent: ${command}`);
    await panel.shownPage(heading).waitFor();
    await panel.dock().getByRole("button").waitFor();
    await fits(command.toLowerCase().replaceAll(" ", "-"));
  }
  await panel.listedServer(server).click();
  await panel.shownPage(server).waitFor();
  await fits("server");
  await panel.leavePages();
  await page.setViewportSize(before);
}

/** Exports the journal to where VS Code proposes, and reads it. */
async function exportJournal({ page, workbench }: ExtensionWindow): Promise<void> {
  const file = join(workbench.workspace, "assent-journal.jsonl");
  await runCommand(page, "Assent: Show or Export Journal");
  await choose(page, "Everything");
  await choose(page, "Export to a File");
  const dialog = page.locator(".quick-input-widget");
  await dialog.getByRole("button", { name: "OK" }).click();
  await page.getByText(`The journal (everything) was saved to ${file}.`).first().waitFor();
  const records = (await readFile(file, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as JournalRecord);
  assert.deepEqual(
    records.map(({ seq }) => seq),
    records.map((_, i) => i + 1),
    "no record is left out",
  );
  const kinds = new Set(records.map(({ kind }) => kind));
  for (const kind of ["callStarted", "askOpened", "askSettled", "samplingEnded", "grantCreated"]) {
    assert(kinds.has(kind as JournalRecord["kind"]), `the journal has ${kind}`);
  }
  await rm(file);
}
