import assert from "node:assert/strict";
import { mkdir, readFile, watch, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Workbench } from "./codeServer.ts";
import { choose, runCommand } from "./quickInput.ts";
import { photographPart } from "./screenshots.ts";
import { step } from "./step.ts";

const before = `[mcp_servers.shop]
command = "shop-server"
startup_timeout_sec = 30
`;

/** A person has Codex use Assent, from VS Code. */
export async function setUpCodex(page: Page, workbench: Workbench): Promise<void> {
  await step("another program is set up from VS Code, in a terminal that asks first", async () => {
    const home = join(workbench.folder, "home");
    const codex = join(home, ".codex");
    const file = join(codex, "config.toml");
    await mkdir(codex);
    await writeFile(file, before);

    await runCommand(page, "Assent: Get Started");
    await choose(page, "Set Up Other Programs…");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const terminal = page.locator(".terminal-wrapper.active .xterm-rows");
    await terminal.getByText("yes, no").waitFor();
    await photographPart(page, "set-up", ".part.panel");
    assert.equal(await readFile(file, "utf8"), before);

    const changed = new AbortController();
    const changes = watch(codex, { signal: changed.signal });
    await page.locator(".terminal-wrapper.active").click();
    await page.keyboard.type("yes\n");
    let text = before;
    while (text === before) {
      await changes.next();
      text = await readFile(file, "utf8");
    }
    changed.abort();
    const link = join(home, ".local", "bin", "assent");
    assert.match(text, new RegExp(`^command = "${link}"$`, "m"));
    assert.match(text, /^args = \["gateway", "shop"\]$/m);
    assert.match(text, /^startup_timeout_sec = 30$/m);
    await runCommand(page, "Terminal: Kill All Terminals");
  });
}
