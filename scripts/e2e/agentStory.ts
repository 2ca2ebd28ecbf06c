import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root, sidecarBinary } from "../tools/lib/paths.ts";
import { eventually } from "./eventually.ts";
import type { ExtensionWindow } from "./extensionWindow.ts";
import { runCommand } from "./quickInput.ts";
import { photograph } from "./screenshots.ts";
import { step } from "./step.ts";

const agent = join(root, "scripts", "e2e", "scriptedAgent.mjs");

/** An agent in a terminal of VS Code asks for permissions. They are answered in the panel, and in the terminal. */
export async function tellAgent({ page, panel, workbench }: ExtensionWindow): Promise<void> {
  const log = async (line: string): Promise<void> => {
    await eventually(`${line} in the agent's log`, async () => {
      const text = await readFile(join(workbench.workspace, "agent.log"), "utf8").catch(() => "");
      return text.split("\n").includes(line) || undefined;
    });
  };
  const card = panel.permission("Claude Code");
  const terminal = page.locator(".terminal-wrapper.active");
  const status = page.getByRole("button", { name: "Assent: 1 open question" });
  await step("an agent in a terminal asks, and is answered in the panel", async () => {
    await runCommand(page, "Terminal: Create New Terminal");
    // Keys that come before the shell's prompt can be lost.
    await terminal
      .locator(".xterm-rows")
      .getByText(/[#$%>]/)
      .waitFor();
    await terminal.click();
    const words = [process.execPath, agent, sidecarBinary, "look-1", "look-2", "look-3"];
    await page.keyboard.type(`${words.map((word) => `'${word}'`).join(" ")}\n`);
    await status.click();
    await panel.openAsks().first().click();
    await card.getByText("look-1").first().waitFor();
    await card.getByText("The model says about it: A harmless look around").waitFor();
    await photograph(page, "agent");
    await panel.approve(card, "Allow Once");
    await log("look-1: allow");
    await panel.text("You allowed: look-1").waitFor(); // the agent has said that it ran
  });
  await step("the next one is answered in the terminal, and its card goes", async () => {
    await card.getByText("look-2").first().waitFor();
    await terminal.click();
    await page.keyboard.type("yes\n");
    await log("look-2: allowed in the terminal");
    await panel.text("Answered in Claude Code: look-2").waitFor();
  });
  await step("and the last one is refused in the panel", async () => {
    await card.getByText("look-3").first().waitFor();
    await panel.approve(card, "Decline");
    await log("look-3: deny");
    await log("done");
    await runCommand(page, "Terminal: Kill All Terminals");
  });
}
