import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Workbench } from "./codeServer.ts";
import { eventually } from "./eventually.ts";
import { Looks } from "./looks.ts";
import { onMachine } from "./machine.ts";
import { Panel } from "./panel.ts";
import { choose, runCommand } from "./quickInput.ts";
import { takeScreenshot } from "./screenshots.ts";
import { step } from "./step.ts";

const before = `[mcp_servers.shop]
command = "shop-server"
startup_timeout_sec = 30
`;

/** A person has Codex use Assent, from VS Code, and takes that back. */
export async function setUpCodex(page: Page, panel: Panel, workbench: Workbench): Promise<void> {
  const home = join(workbench.folder, "home");
  const codex = join(home, ".codex");
  const file = join(codex, "config.toml");
  await step("another program is set up from VS Code, in a terminal that asks first", async () => {
    await mkdir(codex);
    await writeFile(file, before);

    await runCommand(page, "Assent: Get Started");
    await choose(page, "Set Up Hosts in a Terminal…");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const terminal = page.locator(".terminal-wrapper.active .xterm-rows");
    await terminal.getByText("yes, no").waitFor();
    await takeScreenshot(page.locator(".part.panel"), "set-up");
    assert.equal(await readFile(file, "utf8"), before);

    await page.locator(".terminal-wrapper.active").click();
    await page.keyboard.type("yes\n");
    const text = await eventually("the change of Codex's file", async () => {
      const now = await readFile(file, "utf8");
      return now === before ? undefined : now;
    });
    const link = join(home, ".local", "bin", "assent");
    assert.match(text, new RegExp(`^command = "${link}"$`, "m"));
    assert.match(text, /^args = \["gateway", "--own", "--host", "codex", "shop"\]$/m);
    assert.match(text, /^startup_timeout_sec = 30$/m);
    await runCommand(page, "Terminal: Kill All Terminals");
  });
  await step("the page shows that, restores the file, and sets it up again", async () => {
    await runCommand(page, "Assent: Set Up Hosts");
    await panel.button("Restore All Files").click();
    await panel
      .text(/As it was before\.$/)
      .first()
      .waitFor();
    assert.equal(await readFile(file, "utf8"), before);
    await panel.button("Apply").click();
    await panel.text("Changed 1 file.").waitFor();
    const link = join(home, ".local", "bin", "assent");
    assert.match(await readFile(file, "utf8"), new RegExp(`^command = "${link}"$`, "m"));
    await panel.button("Restore All Files").click();
    await panel
      .text(/As it was before\.$/)
      .first()
      .waitFor();
    await panel.leavePages();
  });
}

/** A machine with three hosts. Two have servers of one name, one file is broken, and one server is a project's. */
const files = {
  "home/.codex/config.toml": `${before}env = { SHOP_TOKEN = "sk-0123456789abcdef" }\n`,
  "home/.cursor/mcp.json": JSON.stringify({
    mcpServers: {
      shop: { command: "shop-server", args: ["--region", "eu", "--log", "/var/log/shop.log"] },
      calendar: { url: "https://calendar.example/mcp" },
    },
  }),
  "home/.gemini/settings.json": '{ "mcpServers": {',
  "workspace/.cursor/mcp.json": JSON.stringify({ mcpServers: { notes: { command: "notes" } } }),
};

/** The page of the setup in a browser, on a machine of its own: looked at, applied and taken back. */
export async function setUpInBrowser(page: Page): Promise<void> {
  const noKeychain = (folder: string) => ({
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(folder, "none")}`,
  });
  await onMachine("set-up", noKeychain, async ({ folder, openPage, write }) => {
    for (const [name, text] of Object.entries(files)) await write(name, text);
    const has = async (name: keyof typeof files) =>
      (await readFile(join(folder, name), "utf8")) === files[name];
    await page.goto(await openPage());
    const panel = new Panel(page, page.keyboard);
    const looks = new Looks();
    await step("the page shows the servers of other programs, and changes nothing", async () => {
      await panel.chooseInHead("Set Up Hosts");
      await panel.text("2 files change").waitFor();
      await panel.text("1 thing is left alone").click();
      await panel.text("2 files change").click();
      await looks.inEachSize(page, "set-up");
      const end = panel.button("Apply");
      await looks.inEachSize(page, "set-up-end", () => end.scrollIntoViewIfNeeded());
      assert(await has("home/.cursor/mcp.json"));
    });
    await step("it does what was chosen, and takes it back", async () => {
      await page.getByRole("checkbox", { name: "calendar", exact: true }).uncheck();
      await page.getByRole("checkbox", { name: "Codex", exact: true }).uncheck();
      await panel.text("1 file changes").waitFor();
      await panel.button("Apply").click();
      await panel.text("Changed 1 file.").waitFor();
      await looks.inEachSize(page, "set-up-applied");
      assert(await has("home/.codex/config.toml"));
      const cursor = await readFile(join(folder, "home/.cursor/mcp.json"), "utf8");
      assert.match(cursor, /"gateway"/);
      assert.match(cursor, /calendar\.example/);
      await panel.button("Restore All Files").click();
      await panel.text(/As it was before\.$/).waitFor();
      await looks.inEachSize(page, "set-up-restored");
      for (const name of Object.keys(files)) assert(await has(name as keyof typeof files));
    });
    looks.assertFlawless();
  });
}
