// The panel's part from a question to its pixels, beside the same panel on a host of one process.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import { type Demo, demoEnvironment, openPage } from "../../demo/page.ts";
import { withPage } from "../../e2e/chromium.ts";
import { installCodeServer } from "../../e2e/codeServer.ts";
import { withExtension } from "../../e2e/extensionWindow.ts";
import { Panel } from "../../e2e/panel.ts";
import { buildAll } from "../../tools/lib/build.ts";
import { sidecarBinary } from "../../tools/lib/paths.ts";
import { hostTarget, packageFor } from "../../tools/lib/vsix.ts";
import { print, type Row } from "../report.ts";
import { AskingServer, askBoth, goal, host, sideOf } from "./asks.ts";
import { loaded, watchLoad } from "./probe.ts";
import { type Place, type Recorded, record, viewport, withHost } from "./reference.ts";

const loads = 20;

/** The bar, in milliseconds. */
const firstPaint = 150;

/** Measures, and prints a table. */
export async function measurePixels(): Promise<void> {
  await buildAll();
  await packageFor(hostTarget());
  await installCodeServer();
  const folder = await mkdtemp(join(tmpdir(), "assent-bench-pixels-"));
  const servers = createServer().listen(0, "127.0.0.1");
  await once(servers, "listening");
  const { port } = servers.address() as AddressInfo;
  const place: Place = { folder, servers, port };
  try {
    const { recorded, rows } = await measureBrowser(place);
    print("pixels", [...rows, ...(await measureWorkbench(place, recorded))]);
  } finally {
    servers.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The server that asks, as it is configured. */
const configured = (port: number) => ({
  command: process.execPath,
  args: [join(import.meta.dirname, "server.ts"), String(port)],
});

interface Measured {
  readonly rows: readonly Row[];
  /** The page before it was asked anything. */
  readonly recorded: Recorded;
}

async function measureBrowser(place: Place): Promise<Measured> {
  const { folder, servers, port } = place;
  const workspace = join(folder, "workspace");
  const demo: Demo = { folder, workspace, trust: true };
  await mkdir(join(workspace, ".vscode"), { recursive: true });
  const configuration = JSON.stringify({ servers: { pixels: configured(port) } });
  await writeFile(join(workspace, ".vscode", "mcp.json"), configuration);
  try {
    const url = await openPage(demo);
    let measured: Measured | undefined;
    await withPage("pixels", viewport, async (page) => {
      const context = page.context();
      await context.addInitScript(watchLoad);
      await page.goto(url);
      const calling = AskingServer.called(servers);
      await new Panel(page, page.keyboard).startTool("pixels", "ask");
      const server = await calling;
      const recorded = await record(page);
      const ours = await sideOf(page, page.mainFrame(), server);
      const asked = await withHost(recorded, context, place, (reference) =>
        askBoth(ours, reference, "browser"),
      );
      const drawn = await loadBoth(page, context, place);
      measured = { rows: [...asked, ...drawn], recorded };
    });
    if (measured === undefined) throw new Error("there was no page");
    return measured;
  } finally {
    spawnSync(sidecarBinary, ["daemon", "stop", "--force"], { env: demoEnvironment(demo) });
  }
}

/** The real workbench, beside the reference in a page of the same browser. */
async function measureWorkbench(place: Place, recorded: Recorded): Promise<readonly Row[]> {
  const { servers, port } = place;
  let rows: readonly Row[] = [];
  const options = { name: "pixels-workbench", servers: { pixels: configured(port) } };
  await withExtension(options, async ({ page, panel, frame }) => {
    const calling = AskingServer.called(servers);
    await panel.startTool("pixels", "ask");
    const ours = await sideOf(page, await frame(), await calling);
    const context = page.context();
    await context.addInitScript(watchLoad);
    rows = await withHost(recorded, context, place, (reference) =>
      askBoth(ours, reference, "VS Code"),
    );
  });
  return rows;
}

/** Loads the page again, and that of a reference which shows the same, in turns. */
async function loadBoth(
  page: Page,
  context: BrowserContext,
  place: Place,
): Promise<readonly Row[]> {
  return await withHost(await record(page), context, place, async (reference) => {
    const figure: number[] = [];
    const beside: number[] = [];
    for (let n = 0; n <= loads; n++) {
      const [took, tookBeside] = [await loadAgain(page), await loadAgain(reference.page)];
      if (n === 0) continue; // warms up
      figure.push(took);
      beside.push(tookBeside);
    }
    const row = { what: "panel loaded again, first paint", unit: "ms", figure };
    return [
      { ...row, ...goal(firstPaint, figure) },
      { ...row, reference: { is: host, figure: beside } },
    ];
  });
}

/** Loads a page again, with its conversation. Returns when it first painted something. */
async function loadAgain(page: Page): Promise<number> {
  const url = page.url();
  await page.bringToFront();
  await page.goto("about:blank");
  await page.goto(url);
  const took = await page.evaluate(loaded);
  await sleep(300); // until it is at rest
  return took;
}
