// The demo in a real browser: who is let in, the main path, and that nothing stays behind.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { WebSocket } from "ws";
import { openPage } from "../demo/page.ts";
import { bySuggestion, cleanUp, declineCleanUp, stopAndResend } from "./chatStory.ts";
import { errorsOf, withPage } from "./chromium.ts";
import { confirmInBrowser } from "./confirmStory.ts";
import { type RunningDemo, withDemo } from "./demo.ts";
import { answerInTheDock, answerStandIns } from "./dockStory.ts";
import { tryExampleServer } from "./exampleStory.ts";
import { wearPicture } from "./flowStory.ts";
import { awaitLateServer } from "./lateStory.ts";
import { Looks } from "./looks.ts";
import { Panel } from "./panel.ts";
import { placeQuestion } from "./placing/story.ts";
import { assertNoneLeft, commandLine, processesMarked } from "./processes.ts";
import { lookAtResults } from "./resultsStory.ts";
import { answerInLowPanel, goThroughPages, keepComposerInSight } from "./roomStory.ts";
import { lookAtServer } from "./serversStory.ts";
import { setUpInBrowser } from "./setUpStory.ts";
import { lookAround } from "./statesStory.ts";
import { step } from "./step.ts";
import {
  allowCompletions,
  answerAsModel,
  answerTwoQuestions,
  approveCompletion,
  cancelCall,
  editCompletion,
  fillInForm,
  fillInPrompt,
  readResources,
  redactSecret,
} from "./story.ts";

const size = { width: 600, height: 900 };
await withDemo("browser", {}, async (demo) => {
  const another = new URL(await openPage({ folder: demo.folder }));
  await step("who is not let in", () => refuseStrangers(another));
  await withPage("browser", size, (page) => mainPath(page, demo));
  await step("Ctrl-C leaves no process behind", () => interrupt(demo));
});
await withPage("first-run", size, tryExampleServer);
await withPage("late", size, awaitLateServer);
await withPage("confirm", size, confirmInBrowser);
await withPage("set-up", size, setUpInBrowser);

async function refuseStrangers(url: URL): Promise<void> {
  const wrong = new URL(url);
  wrong.searchParams.set("token", "x".repeat(url.searchParams.get("token")?.length ?? 0));
  assert.equal(await status(wrong, {}), 403, "a wrong token");
  assert.equal(await status(url, { Host: "evil.example" }), 403, "a rebound name");
  assert.equal(await status(url, { Origin: "https://evil.example" }), 403, "another origin");
  const cookie = await redeem(url);
  assert.equal(await status(url, {}), 403, "a token that was used");

  const page = new URL(".", url);
  assert.equal(await status(page, {}), 403, "no cookie");
  assert.equal(await status(page, { Cookie: `${cookie}x` }), 403, "a wrong cookie");
  assert.equal(await status(new URL("/", url), { Cookie: cookie }), 403, "another page");
  assert.equal(await status(page, { Cookie: cookie, Host: "evil.example" }), 403);
  assert.equal(await status(page, { Cookie: cookie }), 200);
  assert.equal(await status(new URL("..%2f..%2fgo.mod", page), { Cookie: cookie }), 404);

  const { origin } = url;
  const bridge = new URL("bridge", page);
  assert.equal(await opened(bridge, { Cookie: cookie, Origin: origin }), "open");
  assert.equal(await opened(bridge, { Cookie: cookie, Origin: "https://evil.example" }), 403);
  assert.equal(await opened(bridge, { Cookie: cookie }), 403, "no origin");
  assert.equal(await opened(bridge, { Cookie: cookie, Origin: origin, Host: "evil.example" }), 403);
  assert.equal(await opened(bridge, { Origin: origin }), 403, "no cookie");
}

/** The cookie that a token is worth. */
async function redeem(url: URL): Promise<string> {
  const response = await get(url, {});
  assert.equal(response.statusCode, 303);
  const [cookie = ""] = response.headers["set-cookie"] ?? [];
  assert.match(cookie, /; HttpOnly; SameSite=Lax$/);
  return cookie.split(";")[0] ?? "";
}

/** The status of a GET with headers that a page in a browser cannot set. */
async function status(url: URL, headers: Readonly<Record<string, string>>): Promise<number> {
  return (await get(url, headers)).statusCode ?? 0;
}

async function get(url: URL, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  const asked = request(url, { headers });
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  return response;
}

/** How a WebSocket is received: "open", or the status that refused it. */
async function opened(
  url: URL,
  headers: Readonly<Record<string, string>>,
): Promise<"open" | number> {
  const socket = new WebSocket(url, { headers });
  return await new Promise((resolve, reject) => {
    socket.on("open", () => {
      socket.close();
      resolve("open");
    });
    socket.on("unexpected-response", (_, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    socket.on("error", reject);
  });
}

async function mainPath(page: Page, { url, workspace }: RunningDemo): Promise<void> {
  const errors = errorsOf(page);
  await page.goto(url.href);
  const panel = new Panel(page, page.keyboard);
  const database = join(workspace, "users.db");
  await declineCleanUp(panel, database, bySuggestion);
  const looks = new Looks();
  await answerInTheDock(page, panel, looks);
  await answerStandIns(page, looks);
  await keepComposerInSight(page, panel);
  await answerInLowPanel(page, panel);
  await goThroughPages(page, panel, looks);
  await panel.newTask();
  await cleanUp(panel, database);
  await looks.inEachSize(page, "conversation");
  await stopAndResend(panel);
  await panel.newTask();
  await fillInForm(panel);
  await approveCompletion(panel);
  await answerAsModel(panel);
  await editCompletion(panel);
  await allowCompletions(panel);
  await redactSecret(panel);
  await wearPicture(page, panel);
  await readResources(panel);
  await fillInPrompt(panel);
  await cancelCall(panel);
  await answerTwoQuestions(panel);
  await panel.chooseInHead("Servers");
  await lookAtServer(panel);
  await panel.leavePages();
  await placeQuestion(page, panel, looks, workspace);
  await lookAround(page, panel, looks, workspace);
  await lookAtResults(page, panel, looks, workspace);
  looks.assertFlawless();
  assert.deepEqual(errors, [], "the page's console has no errors");
}

/** A terminal's Ctrl-C goes to the whole group, and a wrapper may pass it on a second time. */
async function interrupt({ process: demo, mark }: RunningDemo): Promise<void> {
  const { pid } = demo;
  if (pid === undefined) assert.fail("the demo has no process");
  const running = await Promise.all((await processesMarked(mark)).map(commandLine));
  const servers = running.filter((line) => line.includes("testservers/"));
  assert.notEqual(servers.length, 0, "the mark reaches the processes that the sidecar starts");
  const exited = once(demo, "exit");
  process.kill(-pid, "SIGINT");
  const [code] = await exited;
  assert.equal(code, 0);
  await assertNoneLeft(mark);
}
