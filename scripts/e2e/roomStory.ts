import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { type Looks, sizes } from "./looks.ts";
import type { Panel } from "./panel.ts";
import { step } from "./step.ts";
import { beginCompletion, beginForm, server } from "./story.ts";

/** Fails if a part is not completely visible. */
async function assertSeen(page: Page, name: string, part: Locator): Promise<void> {
  const seen = page.viewportSize() ?? assert.fail("the page has no size");
  const { x, y, width, height } = (await part.boundingBox()) ?? assert.fail(`no box of ${name}`);
  const where = `${name} is at ${JSON.stringify({ x, y, width, height })}`;
  assert(x >= 0 && x + width <= seen.width && y >= 0 && y + height <= seen.height, where);
}

/** Writes a long message in each size, and finds the place to write and its button in sight. */
export async function keepComposerInSight(page: Page, panel: Panel): Promise<void> {
  const before = page.viewportSize() ?? assert.fail("the page has no size");
  const composer = page.getByRole("form", { name: "Message to the model" });
  for (const size of sizes) {
    const { width, height } = size;
    await step(
      `the composer is in sight with a long message, at ${width} x ${height}`,
      async () => {
        await page.setViewportSize(size);
        await panel.newTask();
        await panel.focused(panel.message()).waitFor();
        await panel.message().fill("a line\n".repeat(60));
        await assertSeen(page, "the composer", composer);
        await assertSeen(page, "the button that sends it", panel.button("Send"));
        await panel.message().fill("");
      },
    );
  }
  await page.setViewportSize(before);
}

/** Reads a form and answers it by keys where a panel has room for little more than its buttons. */
export async function answerInLowPanel(page: Page, panel: Panel): Promise<void> {
  const before = page.viewportSize() ?? assert.fail("the page has no size");
  for (const size of [
    { width: 300, height: 200 },
    { width: 200, height: 300 },
  ]) {
    const { width, height } = size;
    await step(`a form is read and answered by keys, at ${width} x ${height}`, async () => {
      await panel.newTask();
      await beginForm(panel);
      await page.setViewportSize(size);
      const form = panel.form(server);
      await panel.readTo(form, "Submit", () => panel.press("Control+Enter"));
      await assertSeen(page, "Submit", form.getByRole("button", { name: "Submit" }));
      assert(!(await panel.message().isVisible()), "the composer leaves its room to the question");
      await panel.accept(form, "Submit");
      await panel.focused(panel.message()).waitFor();
      await page.setViewportSize(before);
    });
  }
}

/** Goes through every page while two questions are open, by the keyboard alone. */
export async function goThroughPages(page: Page, panel: Panel, looks: Looks): Promise<void> {
  const line = panel.dock().getByRole("button", { name: /^1 of 2/ });
  const more = panel.button("More Actions");
  const back = async () => {
    await panel.press("Escape");
    await page.locator(".page").waitFor({ state: "detached" });
  };
  await step("each page has the whole panel, and the way back is Escape", async () => {
    await panel.newTask();
    await beginForm(panel);
    await beginCompletion(panel);
    await panel.dock().getByText("1 of 2").waitFor();
    await panel.button("Open Questions (2 waiting)").press("Enter");
    await panel.focused(panel.openAsks().first()).waitFor();
    await line.waitFor();
    await looks.inEachSize(page, "page-open-questions");
    await back();
    await panel.focused(panel.button("Open Questions (2 waiting)")).waitFor();
    for (const name of ["MCP Tasks", "Automatic Answers", "Servers", "Set Up Hosts"]) {
      await panel.chooseInHead(name);
      await panel.focused(page.getByRole("heading", { name, level: 2 })).waitFor();
      await page.locator(".page[aria-busy=false]").waitFor();
      await line.waitFor();
      assert(!(await panel.message().isVisible()), "the composer is hidden");
      await looks.inEachSize(page, `page-${name.toLowerCase().replaceAll(" ", "-")}`);
      await back();
      await panel.focused(more).waitFor();
    }
  });
  await step("each server's page leads back to the list", async () => {
    await panel.chooseInHead("Servers");
    const items = panel.servers().getByRole("listitem").getByRole("button");
    await items.first().waitFor();
    for (let n = 0; n < (await items.count()); n++) {
      const item = items.nth(n);
      const isLooked = (await item.textContent())?.startsWith(server) === true;
      await item.press("Enter");
      await panel.servers().waitFor({ state: "detached" });
      await page.locator(".page[aria-busy=false]").waitFor();
      if (isLooked) await looks.inEachSize(page, "page-server");
      else await looks.fits(page, "page-server");
      await panel.press("Escape");
      await panel.focused(item).waitFor();
    }
  });
  await step("the line below a page leads to the question", async () => {
    await panel.tabTo(line);
    await panel.press("Enter");
    await panel.focused(panel.form(server)).waitFor();
    for (const form of [panel.form(server), panel.approval(server)]) {
      await panel.approve(form, "Decline");
      await form.waitFor({ state: "detached" });
    }
  });
}
