import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { root } from "../tools/lib/paths.ts";
import { type DemoPlace, withDemo } from "./demo.ts";
import { Looks } from "./looks.ts";
import { Panel, returned } from "./panel.ts";
import { step } from "./step.ts";

/** The server that is late, and one that is not. */
const late = "ducks";
const ready = "geese";

/** How long the late server takes to start: longer than a person waits without a word. */
const startMs = 6000;

/** A server starts after six seconds. Only its own users wait for it, and they go on by themselves. */
export async function awaitLateServer(page: Page): Promise<void> {
  await withDemo("late", { servers: lateServers }, async ({ url, folder }) => {
    const panel = new Panel(page, page.keyboard);
    const looks = new Looks();
    const starting = panel.banner(`Starting ${late}`);
    await step("a message waits for a server that is starting, and says so", async () => {
      await page.goto(url.href);
      await panel.message().fill("How many ducks are there?");
      await panel.press("Enter");
      await starting.waitFor();
    });
    const began = performance.now();
    await step("meanwhile its row says the truth, and another server is used", async () => {
      await panel.chooseInHead("Servers");
      await panel.listedServer(late).getByText("starting", { exact: true }).waitFor();
      await panel.listedServer(ready).getByText("running", { exact: true }).waitFor();
      await looks.inEachSize(page, "server-starting");
      await panel.leavePages();
      await panel.message().fill("And the swans?");
      await panel.startTool(ready, `count_${ready}`);
      assert.equal(await returned(panel.call(ready, `count_${ready}`)), "There are 7 geese.");
      const runner = await panel.useServer(late);
      await runner.getByText("Reading what the server offers…").waitFor();
      await looks.inEachSize(page, "runner-starting");
      assert(await starting.isVisible(), "the message waits all the while");
      assert.equal(await panel.message().inputValue(), "And the swans?");
    });
    await step("its tools appear by themselves, and the message goes on", async () => {
      await sleep(Math.max(0, began + startMs - performance.now()));
      await writeFile(startFile(folder), "");
      const runner = page.getByRole("region", { name: "Use a server" });
      await runner.getByRole("option", { name: `count_${late}` }).waitFor({ state: "attached" });
      await panel.approve(panel.toolApproval(late), "Allow");
      await panel.text("There are 42 ducks.").first().waitFor();
      await panel.chooseInHead("Servers");
      await panel.listedServer(late).getByText("running", { exact: true }).waitFor();
      await panel
        .listedServer(late)
        .getByText(/\b1 tool$/)
        .waitFor();
    });
    looks.assertFlawless();
  });
}

/** What the late server waits for. */
const startFile = (folder: string): string => join(folder, "started");

function lateServers({ folder }: DemoPlace): object {
  const server = (...args: readonly string[]) => ({
    command: process.execPath,
    args: [join(root, "scripts", "e2e", "lateServer.mjs"), ...args],
  });
  return { [late]: server(late, "42", startFile(folder)), [ready]: server(ready, "7") };
}
