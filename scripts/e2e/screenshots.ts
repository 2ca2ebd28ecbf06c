import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { distFolder } from "../tools/lib/paths.ts";
import { choose, runCommand } from "./quickInput.ts";

/** Where the end-to-end tests put their pictures, to be looked at. */
export const screenshotFolder = join(distFolder, "screenshots");

/**
 * Screenshots are for people to look at, and no test reads them. Taking them is a large part of a test's time, so they are
 * taken only if this variable is set. The screenshot of a failure is always taken.
 */
const wanted = (process.env["ASSENT_SCREENSHOTS"] ?? "") !== "";

/** Takes a screenshot of a page or of a part of it, if screenshots are wanted. */
export async function takeScreenshot(of: Page | Locator, name: string): Promise<void> {
  if (!wanted) return;
  await mkdir(screenshotFolder, { recursive: true });
  await of.screenshot({ path: join(screenshotFolder, `${name}.png`), animations: "disabled" });
}

/** The themes to look at: VS Code's label of each, and the class that its workbench then has. */
const themes = {
  dark: { label: "Dark 2026", shown: "vs-dark" },
  light: { label: "Light 2026", shown: "vs" },
  hc: { label: "Dark High Contrast", shown: "hc-black" },
  "hc-light": { label: "Light High Contrast", shown: "hc-light" },
} as const;

export type Theme = keyof typeof themes;

/** The names of the themes: those of `?theme=` in a browser. */
export const themeNames = Object.keys(themes) as readonly Theme[];

/** Gives VS Code one of the themes. */
export async function wearTheme(page: Page, name: Theme): Promise<void> {
  const { label, shown } = themes[name];
  await runCommand(page, "Preferences: Color Theme");
  await choose(page, label);
  await page.locator(`.monaco-workbench.${shown}`).waitFor();
}

export interface PhotographOptions {
  /** All of them, if it is absent. */
  readonly themes?: readonly Theme[];
  /** Called when VS Code wears a theme, before its screenshots. With it, the themes are worn in any case. */
  readonly look?: (theme: Theme) => Promise<void>;
}

/** Takes screenshots of the side bar in every theme, and in every width in pixels. */
export async function photograph(
  page: Page,
  scene: string,
  widths: readonly number[] = [300, 600],
  { themes: worn = themeNames, look }: PhotographOptions = {},
): Promise<void> {
  if (!wanted && look === undefined) return;
  for (const name of worn) {
    await wearTheme(page, name);
    await look?.(name);
    if (!wanted) continue;
    for (const width of widths) {
      await resizeSideBar(page, width);
      await takeScreenshot(page.locator(".part.sidebar"), `${scene}-${name}-${width}`);
    }
  }
}

/** Drags the border between the side bar and the editors. */
export async function resizeSideBar(page: Page, width: number): Promise<void> {
  const bar = page.locator(".part.sidebar");
  const before = (await bar.boundingBox()) ?? assert.fail("there is no side bar");
  const border = before.x + before.width;
  const middle = before.y + before.height / 2;
  await page.mouse.move(border, middle);
  await page.mouse.down();
  await page.mouse.move(before.x + width, middle, { steps: 5 });
  await page.mouse.up();
  const after = (await bar.boundingBox()) ?? assert.fail("there is no side bar");
  assert(Math.abs(after.width - width) < 10, `the side bar is ${after.width} pixels wide`);
}
