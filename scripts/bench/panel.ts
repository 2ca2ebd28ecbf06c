// The panel's part of the benchmarks: a task of 100,000 messages in a real browser, with the real sidecar,
// beside one of 100.
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { withPage } from "../e2e/chromium.ts";
import { printedUrl, startDemo } from "../e2e/demo.ts";
import { assertNoneLeft, stopGroup } from "../e2e/processes.ts";
import { run } from "../tools/lib/command.ts";
import { LongList } from "./longList.ts";
import { addTo, print, quantile, type Row } from "./report.ts";

const rounds = 7;
const long = 100_000;
const short = 100;
const scrolledRows = 2000;

/**
 * Measures the panel and prints a table as scripts/bench/table.go does. Where a file is given, the rows are added to
 * the JSON in it, which scripts/bench/report.go describes.
 */
export async function measurePanel(report?: string): Promise<void> {
  const mark = `ASSENT_BENCH=${randomUUID()}`;
  const folder = await mkdtemp(join(tmpdir(), "assent-bench-panel-"));
  const lengths = [String(short), String(long)];
  await run("go", ["run", "./scripts/bench", "seed", join(folder, "data"), ...lengths]);
  const demo = startDemo(mark, ["--folder", folder]);
  try {
    const url = await printedUrl(demo);
    await withPage("bench", { width: 400, height: 800 }, async (page) => {
      await page.goto(url.href);
      await new LongList(page).waitFor(short);
      const rows = [...(await opening(page)), ...(await scrolling(page))];
      print("panel", rows);
      if (report !== undefined) await addTo(report, "panel", rows);
    });
  } finally {
    await stopGroup(demo);
    await assertNoneLeft(mark);
    await rm(folder, { recursive: true, force: true });
  }
}

/** From the choice of a task to the painting of its last message, the two tasks in turn. */
async function opening(page: Page): Promise<readonly Row[]> {
  const figure: number[] = [];
  const reference: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const [longTook, shortTook] = [await open(page, long), await open(page, short)];
    if (round === 0) continue; // warms up
    figure.push(longTook);
    reference.push(shortTook);
  }
  const what = `a task of ${long} messages opened and painted`;
  const beside = { is: `${short} messages`, figure: reference };
  return [{ what, unit: "ms", figure, reference: beside }];
}

async function open(page: Page, length: number): Promise<number> {
  await page.locator(".task-title").click();
  const option = page.getByRole("option", { name: `A task of ${length} messages` });
  return await option.evaluate(async (element, wanted) => {
    const isThere = () => {
      const row = document.querySelector(`.rows > li[aria-posinset="${wanted}"]`);
      const panel = document.querySelector(".messages");
      const bottom = panel?.getBoundingClientRect().bottom ?? 0;
      const size = Number(row?.ariaSetSize);
      return row !== null && size === wanted && row.getBoundingClientRect().top < bottom;
    };
    const start = performance.now();
    (element as HTMLElement).click();
    // A frame in which it is there, and the next, before which that one was painted.
    while (!isThere()) await new Promise((resolve) => requestAnimationFrame(resolve));
    await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - start;
  }, length);
}

/** Scrolls by wheel through many rows of the long task, loading pages on the way. */
async function scrolling(page: Page): Promise<readonly Row[]> {
  await open(page, long);
  const devtools = await page.context().newCDPSession(page);
  const list = new LongList(page);
  const before = await heap(devtools);
  await list.wheel(-400);
  await page.evaluate(() => {
    const frames: number[] = [];
    const note = (time: number) => {
      frames.push(time);
      requestAnimationFrame(note);
    };
    requestAnimationFrame(note);
    Object.assign(window, { benchFrames: frames });
  });
  let elements = 0;
  let drawn = 0;
  while ((await list.look()).first > long - scrolledRows) {
    for (let turns = 0; turns < 20; turns++) await page.mouse.wheel(0, -300);
    elements = Math.max(elements, await page.evaluate(() => document.querySelectorAll("*").length));
    ({ drawn } = await list.look());
  }
  const times = await page.evaluate(() => Reflect.get(window, "benchFrames") as number[]);
  const frames = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  const what = `scrolled through ${scrolledRows} rows`;
  return [
    { what: `${what}, frames a second`, unit: "", figure: [frames.length / seconds] },
    { what: `${what}, longest frame`, unit: "ms", figure: [Math.max(...frames)] },
    { what: `${what}, 99th of 100 frames`, unit: "ms", figure: [quantile(frames, 0.99)] },
    { what: `${what}, rows drawn`, unit: "", figure: [drawn] },
    { what: `${what}, elements in the page`, unit: "", figure: [elements] },
    { what: "JavaScript heap, task opened", unit: "MB", figure: [before] },
    { what: `JavaScript heap, ${what}`, unit: "MB", figure: [await heap(devtools)] },
  ];
}

/** What the page's scripts hold, in megabytes. */
async function heap(devtools: CDPSession): Promise<number> {
  await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  return usedSize / 2 ** 20;
}
