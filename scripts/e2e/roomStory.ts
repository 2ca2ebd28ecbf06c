import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { sizes } from "./looks.ts";
import type { Panel } from "./panel.ts";
import { step } from "./step.ts";

/** Fails if a part is not completely visible. */
async function assertSeen(page: Page, name: string, part: Locator): Promise<void> {
  const seen = page.viewportSize() ?? assert.fail("the page has no size");
  const { x, y, width, height } = (await part.boundingBox()) ?? assert.fail(`no box of ${name}`);
  const where = `${name} is at ${JSON.stringify({ x, y, width, height })}`;
  assert(x >= 0 && x + width <= seen.width && y >= 0 && y + height <= seen.height, where);
}

/** Opens every list, and the page of each server, and finds the place to write in sight, in each size. */
export async function keepComposerInSight(page: Page, panel: Panel): Promise<void> {
  const before = page.viewportSize() ?? assert.fail("the page has no size");
  const composer = page.getByRole("form", { name: "Message to the model" });
  for (const size of sizes) {
    const { width, height } = size;
    await step(`the composer is in sight beside each list, at ${width} x ${height}`, async () => {
      await page.setViewportSize(size);
      await panel.newTask();
      await panel.focused(panel.message()).waitFor();
      const see = (name: string) => assertSeen(page, `the composer beside ${name}`, composer);
      await panel.button("Open Questions").click();
      await page.getByRole("region", { name: "Open questions", exact: true }).waitFor();
      await see("the open questions");
      for (const [entry, region] of [
        ["MCP Tasks", panel.mcpTasks()],
        ["Automatic Answers", panel.policy()],
        ["Servers", panel.servers()],
      ] as const) {
        await panel.chooseInHead(entry);
        await region.waitFor();
        await see(entry);
      }
      const names = panel.servers().getByRole("listitem").getByRole("button");
      for (let n = 0; n < (await names.count()); n++) {
        await names.nth(n).click();
        await panel.button("Close the Page of the Server").waitFor();
        await page.locator("section[aria-busy=false] summary").first().waitFor();
        await see("the page of a server");
        await panel.press("Escape");
        await panel.servers().waitFor();
      }
      await panel.button("Close the List of Servers").click();
      await panel.message().fill("a line\n".repeat(60));
      await see("a long message");
      await assertSeen(page, "the button that sends it", panel.button("Send"));
      await panel.message().fill("");
    });
  }
  await page.setViewportSize(before);
}
