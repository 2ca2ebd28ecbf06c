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
import { addTo, print, quantile, type Row } from "../report.ts";
import { AskingServer, askBoth, goal, host, sideOf } from "./asks.ts";
import { type Load, loaded, watchLoad } from "./probe.ts";
import { type Place, type Recorded, record, viewport, withHost } from "./reference.ts";

const loads = 20;

/** The bar, in milliseconds. */
const firstPaint = 150;

/** Measures, and prints a table. Where a file is given, the rows are added to the JSON in it. */
export async function measurePixels(report?: string): Promise<void> {
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
    await give(rows, report);
    await give(await measureWorkbench(place, recorded), report);
  } finally {
    servers.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function give(rows: readonly Row[], report: string | undefined): Promise<void> {
  print("pixels", rows);
  if (report !== undefined) await addTo(report, "pixels", rows);
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

/** Loads the page, and that of a reference which shows the same, in turns. */
async function loadBoth(
  page: Page,
  context: BrowserContext,
  place: Place,
): Promise<readonly Row[]> {
  return await withHost(await record(page), context, place, async (reference) => {
    const both = async (what: string, load: (page: Page) => Promise<Load>) => {
      const figure: Load[] = [];
      const beside: Load[] = [];
      for (let n = 0; n <= loads; n++) {
        const [took, tookBeside] = [await load(page), await load(reference.page)];
        if (n === 0) continue; // warms up
        figure.push(took);
        beside.push(tookBeside);
      }
      return rowsOfLoads(what, figure, beside);
    };
    return [
      ...(await both("in a new tab", loadInNewTab)),
      ...(await both("loaded again", loadAgain)),
    ];
  });
}

/** Opens what a page shows in a new tab, which has the list of tasks. */
async function loadInNewTab(beside: Page): Promise<Load> {
  const page = await beside.context().newPage();
  try {
    await page.setViewportSize(viewport);
    return await load(page, beside.url());
  } finally {
    await page.close();
  }
}

/** Loads a page again, with its conversation. */
async function loadAgain(page: Page): Promise<Load> {
  const url = page.url();
  await page.bringToFront();
  await page.goto("about:blank");
  return await load(page, url);
}

async function load(page: Page, url: string): Promise<Load> {
  await page.goto(url);
  const took = await page.evaluate(loaded);
  await sleep(300); // until it is at rest
  return took;
}

function rowsOfLoads(
  what: string,
  ours: readonly Load[],
  reference: readonly Load[],
): readonly Row[] {
  const part = (name: string, of: (load: Load) => number, q: number): Row => ({
    what: `panel ${what}, ${name}, p${q * 100}`,
    unit: "ms",
    figure: [quantile(ours.map(of), q)],
    reference: { is: host, figure: [quantile(reference.map(of), q)] },
  });
  const first = ({ firstContent }: Load) => firstContent;
  const complete = ({ complete }: Load) => complete;
  const barred = (q: number): Row => {
    const row = part("first paint", first, q);
    return { ...row, ...goal(firstPaint, row.figure) };
  };
  return [0.5, 0.95].flatMap((q) => [
    barred(q),
    part("first paint", first, q),
    part("all painted", complete, q),
  ]);
}
