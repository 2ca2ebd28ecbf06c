import assert from "node:assert/strict";
import type { AccessMcpResource, RepeatMcpCall, UseMcpTool } from "@assent/protocol";
import type { Locator, Page } from "playwright-core";
import { byTyping } from "./chatStory.ts";
import { type Looks, sizes } from "./looks.ts";
import { Panel } from "./panel.ts";
import { step } from "./step.ts";

const database = "smart-database";

/** Fails if the card's head, or the button that accepts, is not completely visible. */
export async function assertInSight(card: Locator, accept: string): Promise<void> {
  const seen = card.page().viewportSize() ?? assert.fail("the page has no size");
  const parts = [
    ["head", card.getByRole("heading").first()],
    [accept, card.getByRole("button", { name: accept, exact: true })],
  ] as const;
  for (const [name, part] of parts) {
    const box = (await part.boundingBox()) ?? assert.fail(`${name} is not drawn`);
    const where = `${name} is at ${JSON.stringify(box)} of ${JSON.stringify(seen)}`;
    assert(box.x >= 0 && box.x + box.width <= seen.width, where);
    assert(box.y >= 0 && box.y + box.height <= seen.height, where);
    const covered = await part.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const at = document.elementFromPoint(left + width / 2, top + height / 2);
      return at === null || !(element.contains(at) || at.contains(element));
    });
    assert(!covered, `${where}, and something is before it`);
  }
}

/** Answers a card that took the focus with the keys of the dock alone, after its boxes are checked. */
export async function accept(panel: Panel, card: Locator, name: string): Promise<void> {
  await panel.focused(card).waitFor();
  await panel.readTo(card, name, () => panel.press("Control+Enter"));
  await assertInSight(card, name);
  await panel.accept(card, name);
}

/** Answers every kind of question that the example servers ask, in each size. */
export async function answerInTheDock(page: Page, panel: Panel, looks: Looks): Promise<void> {
  const before = page.viewportSize() ?? assert.fail("the page has no size");
  for (const size of sizes) {
    const { width, height } = size;
    await step(`every question is in sight with its answer, at ${width} x ${height}`, async () => {
      await page.setViewportSize(size);
      await panel.newTask();
      await byTyping(panel);
      const tool = panel.toolApproval(database);
      await accept(panel, tool.filter({ hasText: "count_inactive_users" }), "Allow");
      const deletion = tool.filter({ hasText: "delete_inactive_users" });
      await panel.focused(deletion).waitFor();
      await looks.at(page, "ask-tool");
      await accept(panel, deletion, "Allow");
      await panel.focused(panel.approval(database)).waitFor();
      await looks.at(page, "ask-sampling");
      await accept(panel, panel.approval(database), "Approve & Send");
      await panel.focused(panel.review(database)).waitFor();
      await looks.at(page, "ask-review");
      await accept(panel, panel.review(database), "Return to Server");
      const form = panel.form(database);
      await panel.focused(form).waitFor();
      await looks.at(page, "ask-form");
      await panel.readTo(form, "Submit");
      await assertInSight(form, "Submit");
      await panel.choose(form, "More Ways to Decline", "Dismiss without an answer");
      await panel.turnEnds();
      await panel.startTool("test-tasks", "open_account");
      const consent = panel.page("test-tasks", "Accept the terms.");
      await consent.waitFor();
      await looks.at(page, "ask-page");
      await assertInSight(consent, "Open in Browser");
      await panel.press("Escape");
      await consent.waitFor({ state: "hidden" });
      await panel.button("Expand Question").click();
      await panel.focused(consent).waitFor();
      await assertInSight(consent, "Open in Browser");
      await panel.approve(consent, "Decline");
      const next = panel.page("test-tasks", "Confirm your address.");
      await panel.focused(next).waitFor();
      await assertInSight(next, "Open in Browser");
      await panel.approve(next, "Decline");
      await panel.dock().waitFor({ state: "detached" });
      await panel.focused(panel.message()).waitFor();
    });
  }
  await page.setViewportSize(before);
}

/**
 * Answers, in each size, the kinds of questions that no example server causes. A second page shows them in place of the
 * approvals of two tools, and its answers go to these.
 */
export async function answerStandIns(page: Page, looks: Looks): Promise<void> {
  const other = await page.context().newPage();
  await other.routeWebSocket("**/bridge", (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => socket.send(JSON.stringify(JSON.parse(String(text), standIn))));
  });
  await other.goto(page.url());
  const panel = new Panel(other, other.keyboard);
  for (const size of sizes) {
    const { width, height } = size;
    const what = "a resource and a repeated call are in sight with their answers";
    await step(`${what}, at ${width} x ${height}`, async () => {
      await other.setViewportSize(size);
      await panel.newTask();
      await byTyping(panel);
      const resource = panel.toolApproval(database);
      await panel.focused(resource).waitFor();
      // Its address is longer than any panel, so that its end was not in view.
      await resource.getByRole("button", { name: "Read on", exact: true }).waitFor();
      await looks.at(other, "ask-resource");
      await accept(panel, resource, "Allow");
      await panel.focused(panel.repeat(database)).waitFor();
      await looks.at(other, "ask-repeat");
      await accept(panel, panel.repeat(database), "Call Again");
      await panel.button("Stop").click();
      await panel.turnEnds();
    });
  }
  await other.close();
}

/** A reviver for JSON.parse that replaces the question about a tool by a longer one of another kind. */
function standIn(_key: string, value: unknown): unknown {
  if (!isToolQuestion(value)) return value;
  const { serverName, toolUse, tool } = value;
  if (tool.name === "count_inactive_users") {
    const uri = `users://rows?ids=${"1,".repeat(1000)}`;
    const resource = { uri, name: "rows", title: "Rows of the users table" };
    const access = { type: "access_mcp_resource", serverName, toolUse, uri, resource } as const;
    return access satisfies AccessMcpResource;
  }
  const reason = `${tool.name} failed, and it is not known what it did before. `.repeat(50);
  const repeat = { type: "repeat_mcp_call", serverName, toolNames: [tool.name], reason } as const;
  return repeat satisfies RepeatMcpCall;
}

function isToolQuestion(value: unknown): value is UseMcpTool {
  return (
    typeof value === "object" && value !== null && "type" in value && value.type === "use_mcp_tool"
  );
}
