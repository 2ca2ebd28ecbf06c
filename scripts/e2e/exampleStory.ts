import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { withDemo } from "./demo.ts";
import { accept } from "./dockStory.ts";
import { Panel } from "./panel.ts";
import { takeScreenshot } from "./screenshots.ts";
import { step } from "./step.ts";

const server = "example-server";

/** What a person sees first who has no server and no model: one click, and a server asks. */
export async function tryExampleServer(page: Page): Promise<void> {
  await withDemo("empty", { empty: true }, async ({ url }) => {
    const panel = new Panel(page, page.keyboard);
    await step("from an empty workspace, one click leads to a server's question", async () => {
      await page.goto(url.href);
      const button = panel.button("Try the Example Server");
      await button.waitFor();
      assert.equal(await panel.text("What can you do").count(), 0);
      await takeScreenshot(page, "first-run");
      await button.click();
      const form = panel.form(server);
      await panel.focused(form).waitFor();
      await takeScreenshot(page, "first-question");
      await accept(panel, form, "Submit");
      await accept(panel, panel.approval(server), "Approve & Send");
      await accept(panel, panel.review(server), "Return to Server");
      await panel.text("You are invited to lunch!").first().waitFor();
    });
    await step("the example server is listed as built in, and removed", async () => {
      await panel.chooseInHead("Servers");
      await panel.listedServer(server).click();
      await panel.serverPage(server).getByText("It is built into Assent.").waitFor();
      await panel.button("Remove Example Server").click();
      await panel.text("No MCP server is configured.").waitFor();
    });
  });
}
