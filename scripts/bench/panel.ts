// The panel's part of the benchmarks: a task of 100,000 messages in a real browser, with the real sidecar,
// beside one of 100.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { withPage } from "../e2e/chromium.ts";
import { withDemo } from "../e2e/demo.ts";
import { run } from "../tools/lib/command.ts";
import { LongList } from "./longList.ts";
import { print, type Row } from "./report.ts";

const rounds = 7;
const long = 100_000;
const short = 100;
const scrolledRows = 2000;

/** Measures the panel and prints a table as scripts/bench/table.go does. */
export async function measurePanel(): Promise<void> {
  const lengths = [String(short), String(long)];
  await withDemo(
    "bench-panel",
    {
      prepare: ({ folder }) =>
        run("go", ["run", "./scripts/bench", "seed", join(folder, "data"), ...lengths]),
    },
    ({ url }) =>
      withPage("bench", { width: 400, height: 800 }, async (page) => {
        await page.goto(url.href);
        await new LongList(page).waitFor(short);
        print("panel", [await opening(page), await scrolling(page)]);
      }),
  );
}

/** From the choice of a task to the painting of its last message, the two tasks in turn. */
async function opening(page: Page): Promise<Row> {
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
  return { what, unit: "ms", figure, reference: beside };
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
async function scrolling(page: Page): Promise<Row> {
  await open(page, long);
  const list = new LongList(page);
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
  while ((await list.look()).first > long - scrolledRows) {
    for (let turns = 0; turns < 20; turns++) await page.mouse.wheel(0, -300);
  }
  const times = await page.evaluate(() => Reflect.get(window, "benchFrames") as number[]);
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  const what = `scrolled through ${scrolledRows} rows, frames a second`;
  return { what, unit: "", figure: [(times.length - 1) / seconds] };
}
