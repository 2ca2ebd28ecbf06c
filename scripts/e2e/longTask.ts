// A task of thousands of messages in a real browser: how much of it is drawn, and that scrolling takes
// nothing from a person's hands.
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { LongList } from "../bench/longList.ts";
import { run } from "../tools/lib/command.ts";
import { errorsOf, withPage } from "./chromium.ts";
import { withDemo } from "./demo.ts";
import { assertInSight } from "./dockStory.ts";
import { Panel } from "./panel.ts";
import { takeScreenshot } from "./screenshots.ts";
import { step } from "./step.ts";

const length = 3000;

/** Many more rows than a panel shows, and few of those that there are. */
const mostRows = 60;

await withDemo(
  "long-task",
  {
    prepare: ({ folder }) =>
      run("go", ["run", "./scripts/bench", "seed", join(folder, "data"), String(length)]),
  },
  ({ url }) => withPage("long-task", { width: 400, height: 800 }, (page) => story(page, url)),
);

async function story(page: Page, url: URL): Promise<void> {
  const errors = errorsOf(page);
  await page.goto(url.href);
  const panel = new Panel(page, page.keyboard);
  const list = new LongList(page);
  await step("a long task opens at its end", async () => {
    await list.waitFor(length);
    await list.waitForEnd();
    await assertFew(list);
    await photograph(page, "end");
  });
  await step("its end stays in sight when the panel is resized", () => resize(page, list));
  await step("earlier pages come without a jump", () => scrollUp(list));
  await step("keys go to the ends, and by pages", () => pressKeys(page, list));
  await step("a view that comes back is where it was", () => reload(page, list));
  await step("what is typed stays, wherever the list is", () =>
    leaveAndComeBack(page, panel, list),
  );
  assert.deepEqual(errors, [], "the page's console has no errors");
}

async function assertFew(list: LongList): Promise<void> {
  const { drawn } = await list.look();
  assert(drawn <= mostRows, `${drawn} rows are drawn`);
}

async function resize(page: Page, list: LongList): Promise<void> {
  const before = page.viewportSize() ?? assert.fail("the page has no size");
  for (const [width, height] of [
    [0, -10],
    [-100, 0],
    [0, -300],
  ] as const) {
    await page.setViewportSize({ width: before.width + width, height: before.height + height });
    await list.waitForEnd();
  }
  await page.setViewportSize(before);
  await list.waitForEnd();
}

/** Scrolls up by wheel until a page is loaded, and further. The view moves only by the wheel's distance. */
async function scrollUp(list: LongList): Promise<void> {
  const turn = 400;
  const { loaded } = await list.look();
  for (let more = 10; more > 0; ) {
    const { first } = await list.look();
    const moved = await list.wheel(-turn);
    assert(Math.abs(moved - turn) <= 2, `${first} was moved by ${moved} pixels`);
    await assertFew(list);
    if ((await list.look()).loaded > loaded) more--;
  }
}

async function pressKeys(page: Page, list: LongList): Promise<void> {
  await photograph(page, "middle");
  await list.focus();
  await page.keyboard.press("End");
  await list.waitFor(length);
  const end = await list.look();
  await page.keyboard.press("PageUp");
  const up = await list.look();
  assert(up.first < end.first && up.last >= end.first - 1, "a page up joins what was seen");
  await page.keyboard.press("PageDown");
  await list.waitFor(length);
  while (!(await list.look()).complete) {
    const { loaded } = await list.look();
    await page.keyboard.press("Home");
    await list.waitForMore(loaded);
  }
  await page.keyboard.press("Home");
  await list.waitFor(1);
  await assertFew(list);
  await photograph(page, "beginning");
  await page.keyboard.press("End");
  await list.waitFor(length);
}

/** Reloads at a message of a page that the view does not read at first, as VS Code does to a hidden view. */
async function reload(page: Page, list: LongList): Promise<void> {
  const { loaded } = await list.look();
  await list.focus();
  await page.keyboard.press("Home");
  await list.waitForMore(loaded);
  for (let turns = 0; turns < 5; turns++) await list.wheel(-300);
  const before = await list.look();
  assert(before.first < length - 200, `${before.first} is not on the first page`);
  await page.reload();
  await list.waitFor(before.first);
  const after = await list.look();
  assert.deepEqual([after.first, after.last], [before.first, before.last]);
  await assertFew(list);
  await list.focus();
  await page.keyboard.press("End");
  await list.waitFor(length);
}

async function leaveAndComeBack(page: Page, panel: Panel, list: LongList): Promise<void> {
  await panel.runTool("test-elicitation", "fill_everything");
  const form = panel.form("test-elicitation");
  const control = form.getByRole("textbox").first();
  await control.fill("half a sentence");
  await control.evaluate((element: HTMLTextAreaElement) => element.setSelectionRange(5, 6));
  const typed = await control.elementHandle();
  // The dock leaves the list little room, and a row that is followed must stay drawn.
  for (let turns = 0; turns < 40; turns++) await list.wheel(-400);
  await assertFew(list);
  const kept = await typed?.evaluate((element) => {
    const { isConnected, value, selectionStart } = element as HTMLTextAreaElement;
    return { isConnected, value, selectionStart, focused: document.activeElement === element };
  });
  assert.deepEqual(kept, {
    isConnected: true,
    value: "half a sentence",
    selectionStart: 5,
    focused: true,
  });
  await page.keyboard.press("Alt+F8");
  await panel.focused(form).waitFor();
  await panel.readTo(form, "Submit");
  await assertInSight(form, "Submit");
  await panel.choose(form, "More Ways to Decline", "Dismiss without an answer");
  await form.waitFor({ state: "detached" });
}

/** Takes pictures in the dark, as narrow as a side bar gets and wider. */
async function photograph(page: Page, scene: string): Promise<void> {
  const before = page.viewportSize() ?? assert.fail("the page has no size");
  await page.emulateMedia({ colorScheme: "dark" });
  for (const width of [300, 600]) {
    await page.setViewportSize({ ...before, width });
    await takeScreenshot(page, `long-task-${scene}-dark-${width}`);
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(before);
}
