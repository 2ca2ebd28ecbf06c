import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AxeResults, RunOptions } from "axe-core";
import type { Frame, Page } from "playwright-core";
import { root } from "../tools/lib/paths.ts";
import { takeScreenshot, themeNames } from "./screenshots.ts";

/** VS Code's default side bar in a window of 1280 x 800, and a larger panel. */
export const sizes = [
  { width: 300, height: 494 },
  { width: 600, height: 900 },
] as const;

/** Every rule of axe that applies to rendered pages. */
const everyRule: RunOptions = { rules: { "target-size": { enabled: true } } };

/** The rules that depend on the theme. */
const ofColors: RunOptions = { runOnly: ["color-contrast", "link-in-text-block"] };

const axe = readFile(join(root, "node_modules", "axe-core", "axe.min.js"), "utf8");

/** Checks the panel's states in a browser: how it is laid out, and axe in all themes. It takes screenshots, too. */
export class Looks {
  readonly #findings: string[] = [];

  /** Checks the page at its full size. */
  async at(page: Page, state: string): Promise<void> {
    const { width } = page.viewportSize() ?? assert.fail("the page has no size");
    await this.fits(page, state);
    const before = await page.evaluate(() => document.body.dataset["theme"]);
    for (const theme of themeNames) {
      await wear(page, theme);
      await takeScreenshot(page, `panel-${state}-${theme}-${width}`);
      const rules = theme === themeNames[0] ? everyRule : ofColors;
      for (const finding of await findings(page, rules)) {
        this.#findings.push(`${state}, ${theme}, ${width}: ${finding}`);
      }
    }
    await wear(page, before);
  }

  /** Checks only how the page is laid out. */
  async fits(page: Page, state: string): Promise<void> {
    const { width, height } = page.viewportSize() ?? assert.fail("the page has no size");
    for (const misfit of await misfits(page)) {
      this.#findings.push(`${state}, ${width} x ${height}: ${misfit}`);
    }
  }

  /** Checks the page in each size, in which it is put into its state first. */
  async inEachSize(page: Page, state: string, enter?: () => Promise<void>): Promise<void> {
    const before = page.viewportSize() ?? assert.fail("the page has no size");
    for (const size of sizes) {
      await page.setViewportSize(size);
      await enter?.();
      await this.at(page, state);
    }
    await page.setViewportSize(before);
  }

  /** Fails if anything was wrong in any state. */
  assertFlawless(): void {
    assert.deepEqual(this.#findings, [], "nothing is wrong with the panel");
  }
}

/** Gives the page one of the colours that it has in a browser. */
async function wear(page: Page, theme: string | undefined): Promise<void> {
  await page.evaluate((name) => {
    document.body.dataset["theme"] = name ?? "";
  }, theme);
}

async function findings(page: Page, options: RunOptions): Promise<readonly string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await axe);
  const { violations } = await page.evaluate(
    (chosen) =>
      (window as unknown as { axe: { run(o: RunOptions): Promise<AxeResults> } }).axe.run(chosen),
    options,
  );
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, html }) => `${id} (${impact}) at ${target.join(" ")}: ${html}`),
  );
}

/**
 * Says what is wrong with the panel's layout: a document that scrolls, a page with several scroll areas, and a part
 * that is there and has no height.
 */
export async function misfits(panel: Page | Frame): Promise<readonly string[]> {
  return await panel.evaluate(() => {
    const { scrollWidth, scrollHeight, clientWidth, clientHeight } = document.documentElement;
    const said: string[] = [];
    if (scrollWidth > clientWidth || scrollHeight > clientHeight) {
      said.push(
        `a document of ${scrollWidth} x ${scrollHeight} in ${clientWidth} x ${clientHeight}`,
      );
    }
    const seen = [...document.querySelectorAll<HTMLElement>("body *")].filter((element) =>
      element.checkVisibility({ visibilityProperty: true }),
    );
    const name = ({ tagName, className }: HTMLElement) => `${tagName.toLowerCase()}.${className}`;
    const scrolls = seen.filter(
      (element) =>
        element.closest(".page-view") !== null &&
        ["auto", "scroll"].includes(getComputedStyle(element).overflowY) &&
        element.scrollHeight > element.clientHeight,
    );
    if (scrolls.length > 1) {
      said.push(`${scrolls.length} scroll areas: ${scrolls.map(name).join(", ")}`);
    }
    const parts =
      "main, section, header, form, footer, fieldset, li, button, input, textarea, select";
    for (const part of seen.filter((element) => element.matches(parts))) {
      if (part.clientHeight === 0 && part.textContent !== "")
        said.push(`no height of ${name(part)}`);
    }
    return said;
  });
}
