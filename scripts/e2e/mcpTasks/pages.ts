import assert from "node:assert/strict";
import type { Shown } from "../frontEnd.ts";
import type { Scene } from "./scene.ts";

/** Both pages that the server's error asks for, shown. */
async function twoPages(scene: Scene, call: number): Promise<[Shown, Shown]> {
  return [await scene.frontEnd.ask(call, 0), await scene.frontEnd.ask(call, 1)];
}

/** The person visits both pages: the server says that each is done, and the call is made again. */
export async function visited(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  const call = await frontEnd.callTool("journeys", "open_account", {});
  for (const shown of await twoPages(scene, call)) {
    const { question } = shown.ask;
    assert.ok(question.type === "mcp_url_elicitation" && question.awaitsCompletion);
    await frontEnd.openPage(shown);
    assert.equal(frontEnd.opened.at(-1), question.url);
    const page = await fetch(question.url); // the person's browser
    assert.equal(page.status, 200, await page.text());
  }
  const result = await frontEnd.result(call);
  assert.ok(result.type === "result" && !result.isError, JSON.stringify(result));
  const shown = frontEnd.asksSince(call);
  assert.equal(shown.length, 2, "the person was asked again");
  for (const { ask } of shown) assert.equal(ask.outcome?.reason, "completed");
}

/** The person gives up: the call ends with the server's own error, unchanged. */
export async function givenUp(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  const call = await frontEnd.callTool("journeys", "open_account", {});
  const pages = await twoPages(scene, call);
  await frontEnd.answer(pages[0], "cancelButtonClicked");
  const result = await frontEnd.result(call);
  assert.ok(result.type === "error" && result.code === -32042, JSON.stringify(result));
  const { elicitations } = result.data as {
    elicitations: { url: string; elicitationId: string }[];
  };
  const urls = pages.map(
    ({ ask }) => ask.question.type === "mcp_url_elicitation" && ask.question.url,
  );
  assert.deepEqual(new Set(elicitations.map(({ url }) => url)), new Set(urls));
  for (const { elicitationId } of elicitations) assert.ok(elicitationId);
  const reasons = frontEnd.asksSince(call).map(({ ask }) => ask.outcome?.reason);
  assert.deepEqual(reasons, ["dismissed", "callEnded"]);
}
