// The packaged extension in the real VS Code workbench: the main path, every way out of an ask, a
// killed sidecar, and the places where VS Code itself tells of open asks.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JournalRecord } from "@assent/protocol";
import type { Page } from "playwright-core";
import {
  buildExampleServers,
  exampleServers,
  samplingServer,
  tasksServer,
  writeExampleWorkspace,
} from "../playground/exampleServers.ts";
import { hostTarget, vsixOf } from "../setup/vsix.ts";
import { tellAttachments } from "./attachStory.ts";
import { byTyping, cleanUp, declineCleanUp, stopAndResend } from "./chatStory.ts";
import { withPage } from "./chromium.ts";
import { startWorkbench, type Workbench } from "./codeServer.ts";
import { tellElicitation } from "./elicitationStory.ts";
import { legacy, tellMcpTasks } from "./mcpTaskStory.ts";
import { Panel } from "./panel.ts";
import { assertNoneLeft, commandLine, processesMarked } from "./processes.ts";
import { choose, runCommand, tick } from "./quickInput.ts";
import { sampler, tellSampling } from "./samplingStory.ts";
import { photograph, photographWindow } from "./screenshots.ts";
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
import { withTestModels } from "./testModels.ts";
import { tellWindows } from "./windowsStory.ts";

/** A server of the person's settings, which does not start without a value that they type. */
const secretive = "secretive";

/** A server that another program has configured. */
const imported = "from-elsewhere";

const workbench = await step("the packaged extension is installed", install);
try {
  await withPage("workbench", { width: 1280, height: 1000 }, tell);
} finally {
  await workbench.stop();
  await assertNoneLeft(workbench.folder);
}

async function install(): Promise<Workbench> {
  await buildExampleServers();
  const started = await withTestModels((models) =>
    startWorkbench({
      extensions: [vsixOf(hostTarget()), models],
      machineSettings: {
        "assent.model.provider": "demo",
        "assent.servers": {
          // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of mcp.json's.
          [secretive]: { ...exampleServers[server], env: { KEY: "${input:key}" } },
          [legacy]: tasksServer("legacy"),
          [sampler]: samplingServer("2025-11-25"),
        },
        // VS Code does not say of its models whether they call tools.
        "assent.model.table": [{ match: "test caller", tools: true, images: true }],
        "assent.inputs": [{ id: "key", type: "promptString", description: "The key of the shed" }],
      },
    }),
  );
  await writeExampleWorkspace(started.workspace);
  await configureAnotherProgram(started.folder);
  return started;
}

/** A server that another program has, and one whose name is taken already. */
async function configureAnotherProgram(folder: string): Promise<void> {
  const cursor = join(folder, "home", ".cursor");
  const mcpServers = {
    [imported]: { ...exampleServers["go-example"], env: { API_TOKEN: "hunter2-hunter2-hunter2" } },
    "go-example": exampleServers["go-example"],
  };
  await mkdir(cursor, { recursive: true });
  await writeFile(join(cursor, "mcp.json"), JSON.stringify({ mcpServers }));
}

/** The panel in a window. */
function panelIn(page: Page): Panel {
  const view = page
    .frameLocator('iframe.webview.ready[src*="extensionId=assent.assent"]')
    .frameLocator("iframe#active-frame");
  return new Panel(view, page.keyboard);
}

async function tell(page: Page): Promise<void> {
  const panel = panelIn(page);
  const complaints = collectComplaints(page);

  await step("the panel opens from the activity bar", async () => {
    await page.goto(workbench.url);
    await container(page).click();
    await panel.text("Assent lets MCP servers ask").waitFor();
  });
  await step("a command opens the configuration", async () => {
    await runCommand(page, "Assent: Open MCP Configuration");
    await page.getByRole("tab", { name: "mcp.json" }).waitFor();
    await runCommand(page, "View: Close All Editors");
  });
  const newTask = () => panel.newTask(() => runCommand(page, "Assent: New Task"));
  await step("a command starts a task", newTask);
  await fillInForm(panel);
  await approveCompletion(panel);
  await editCompletion(panel);
  await allowCompletions(panel);
  await step("a command lists the grants, with those that ended", async () => {
    await runCommand(page, "Assent: Show Grants");
    const list = panel.grants();
    await list.getByText("1 ended").click();
    await list.getByText("revoked").waitFor();
    await list.getByText("2 of 12").waitFor();
    await photograph(page, "grants");
    await panel.button("Close the List of Grants").click();
  });
  await step("a command lists the servers", async () => {
    await runCommand(page, "Assent: Show MCP Servers");
    await panel.servers().getByText("running").first().waitFor();
  });
  await lookAtServer(panel);
  await photograph(page, "server");
  await panel.button("Close the Page of the Server").click();
  await step("a command shows the journal, and another exports all of it", async () => {
    await runCommand(page, "Assent: Show Journal");
    await choose(page, "Everything");
    const shown = page.locator(".editor-instance");
    await shown
      .getByText(/tools\/call\sask_user_preferences/)
      .first()
      .waitFor();
    await shown
      .getByText(/answered\sin\sVS\sCode/)
      .first()
      .waitFor();
    await photographWindow(page, "journal");
    await runCommand(page, "View: Close All Editors");
    await exportJournal(page);
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
      await prompt.waitFor();
      await page.keyboard.type(value);
      await page.keyboard.press("Enter");
    };
    await newTask();
    await Promise.all([declineForm(panel, secretive), answerPrompt()]);
    // A task has a connection of its own to a server like this one, so the server starts twice.
    await newTask();
    await declineForm(panel, secretive);
    assert.equal((await processesMarked(`KEY=${value}`)).length, 2);
  });
  // A conversation may use all servers, also the one that asked for its input just now.
  const database = join(workbench.workspace, "users.db");
  await newTask();
  await declineCleanUp(panel, database, byTyping);
  await newTask();
  await cleanUp(panel, database, () => photograph(page, "clean-up"));
  await stopAndResend(panel);
  await photograph(page, "chat");
  await tellAttachments({
    page,
    panel,
    workspace: workbench.workspace,
    newTask,
    show: () => showIn(page),
    photograph: () => photograph(page, "attached"),
  });
  await newTask();

  await step("the badge counts open asks, and a draft outlives the hidden panel", async () => {
    await beginForm(panel);
    await badge(page, "1 open question").waitFor();
    await beginCompletion(panel);
    await badge(page, "2 open questions").waitFor();
    await hide(page);
    await container(page).click();
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
  await photograph(page, "asks");
  await step("a setting takes the picture away at once, and brings it back", async () => {
    const settings = join(workbench.workspace, ".vscode", "settings.json");
    const picture = panel.picture(/^It is with you/, "person");
    await picture.scrollIntoViewIfNeeded();
    await writeFile(settings, JSON.stringify({ "assent.sampling.diagram": false }));
    await picture.waitFor({ state: "detached" });
    await rm(settings);
    await picture.scrollIntoViewIfNeeded();
  });
  await photograph(page, "picture");
  await step("a killed sidecar is started again and says what became of the asks", async () => {
    await killSidecar();
    await panel.settledForm(server).getByText("Assent stopped while this was open").waitFor();
    await panel.settledForm(server).getByText("What you had typed was not sent").waitFor();
    await panel.settledApproval(server).getByText("Assent stopped while this was open").waitFor();
    await panel.call(server, "ask_user_preferences").getByText("lost").waitFor();
    await badge(page, "open question").waitFor({ state: "detached" });
  });
  await photograph(page, "killed");
  await fillInForm(panel);

  await step("asks that come while the panel is hidden make one notification", async () => {
    // A server that is stopped asks no sooner than it may go on.
    await whileStopped("test-elicitation-server.mjs", async () => {
      await panel.runTool(server, "ask_user_preferences");
      await panel.runTool(server, "request_llm_help", { Question: "Anything?" });
      await hide(page);
    });
    await page.getByText("2 questions from MCP servers wait for you.").first().waitFor();
    await page.getByRole("button", { name: "Review" }).click();
    await panel.focused(panel.form(server)).waitFor();
  });
  await tellSampling({ page, panel, newTask });
  await tellMcpTasks({
    page,
    panel,
    newTask,
    killSidecar,
    whileServersStop: (work) => whileStopped("test-tasks-server.mjs", work),
  });
  await newTask();
  await step("a reload with the panel hidden serves what is open", async () => {
    await panel.runTool("test-tasks", "plan_journey", {
      Destination: "Evora",
      "Milliseconds a step": "150",
    });
    const form = panel.form("test-tasks");
    await form.waitFor();
    await reloadHidden(page);
    const status = page.getByRole("button", { name: "Assent: 1 open question" });
    await status.waitFor();
    assert.notEqual(await container(page).getAttribute("aria-expanded"), "true", "it is hidden");
    await status.click();
    await panel.openAsks().first().click();
    await form.getByRole("button", { name: "Decline", exact: true }).click();
    await form.waitFor({ state: "detached" });
  });
  await tellElicitation({
    page,
    panel,
    newTask,
    killSidecar,
    hide: () => hide(page),
    show: () => container(page).click(),
    set: workbench.set,
  });
  await tellWindows({ page, panel, newTask, openWindow: () => openWindow(page), sidecars });
  await step("a server of another program is shown whole, then imported, and runs", async () => {
    await runCommand(page, "Assent: Import MCP Servers");
    await page.getByText("is configured already").waitFor();
    await tick(page, imported);
    await page.keyboard.press("Enter");
    const preview = page.locator(".editor-instance").getByText(/Nothing\sis\swritten\syet/);
    await preview.waitFor();
    const configuration = join(workbench.workspace, ".vscode", "mcp.json");
    assert(!(await readFile(configuration, "utf8")).includes(imported), "nothing is written yet");
    await photographWindow(page, "import");
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
  assert.deepEqual(complaints, [], "the panel's console has no errors");
}

/** Exports the journal to where VS Code proposes, and reads it. */
async function exportJournal(page: Page): Promise<void> {
  const file = join(workbench.workspace, "assent-journal.jsonl");
  await runCommand(page, "Assent: Export Journal");
  await choose(page, "Everything");
  const dialog = page.locator(".quick-input-widget");
  await dialog.getByRole("button", { name: "OK" }).click();
  await page.getByText(`The journal (everything) is in ${file}.`).first().waitFor();
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

/** Collects what the browser has against the panel; the workbench's own troubles are not ours. */
function collectComplaints(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    const isPanels = message.location().url.includes("/dist/webview/");
    const isPolicys = message.text().includes("Content Security Policy");
    if (message.type() === "error" && (isPanels || isPolicys)) complaints.push(message.text());
  });
  return complaints;
}

/** The container's icon in the activity bar. */
function container(page: Page) {
  return page.getByRole("tab", { name: /^Assent/ });
}

/** The container's icon, when it says so many open asks. */
function badge(page: Page, words: string) {
  return page.getByRole("tab", { name: new RegExp(`^Assent.* ${words}`) });
}

async function hide(page: Page): Promise<void> {
  await page.getByRole("tab", { name: /^Explorer/ }).click();
  await page.locator("iframe.webview.ready").waitFor({ state: "detached" });
}

/** Reloads the window, in which the panel is hidden. VS Code takes seconds to save what its side bar shows. */
async function reloadHidden(page: Page): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt++) {
    await hide(page);
    await page.reload();
    const title = page.locator(".part.sidebar .composite.title h2").filter({ hasText: /\w/ });
    if (!/^Assent/i.test((await title.textContent()) ?? "")) return;
  }
  assert.fail("the side bar shows the panel after each reload");
}

/** Opens another window on the workspace folder, which shows the panel. */
async function openWindow(page: Page) {
  const other = await page.context().newPage();
  await other.setViewportSize(page.viewportSize() ?? assert.fail("the window has no size"));
  await other.goto(workbench.url);
  const panel = panelIn(other);
  await showIn(other);
  await panel.text(/^Use a Server$/).waitFor();
  return { page: other, panel };
}

/** Shows the panel in a window that has just been loaded. */
async function showIn(page: Page): Promise<void> {
  const tab = container(page);
  await tab.waitFor();
  await page.locator(".monaco-workbench .part.sidebar .composite.title").waitFor();
  // The side bar may show again what it showed in the window that was open last.
  if ((await tab.getAttribute("aria-expanded")) !== "true") await tab.click();
}

/** The sidecars that run, and where each of them has its store. */
async function sidecars() {
  const pids = await processesNamed("/bin/assent serve");
  const lines = await Promise.all(pids.map(commandLine));
  return { count: pids.length, folders: lines.map((line) => line.replace(/^\S+ /, "")) };
}

/** Kills the only sidecar, and waits until the extension has started another one. */
async function killSidecar(): Promise<void> {
  const running = () => processesNamed("/bin/assent serve");
  const [killed, ...others] = await running();
  assert(killed !== undefined && others.length === 0, "there is one sidecar");
  process.kill(killed, "SIGKILL");
  for (let attempt = 0; attempt < 600; attempt++) {
    const [started] = await running();
    if (started !== undefined && started !== killed) return;
    await sleep(100);
  }
  assert.fail("no sidecar was started again");
}

/** Does something while the processes of a name stand still. */
async function whileStopped(name: string, work: () => Promise<void>): Promise<void> {
  const stopped = await processesNamed(name);
  for (const pid of stopped) process.kill(pid, "SIGSTOP");
  try {
    await work();
  } finally {
    for (const pid of stopped) process.kill(pid, "SIGCONT");
  }
}

/** The processes of this run whose command line has a text in it. */
async function processesNamed(text: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of await processesMarked(workbench.folder)) {
    if ((await commandLine(pid)).includes(text)) found.push(pid);
  }
  return found;
}
