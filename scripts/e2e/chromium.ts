import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { waitLimit } from "./eventually.ts";
import { screenshotFolder } from "./screenshots.ts";

/** The visible part of a page in CSS pixels, and the device pixels of each. */
export interface Viewport {
  readonly width: number;
  readonly height: number;
  readonly deviceScaleFactor?: number;
  /** More flags of the browser. */
  readonly flags?: readonly string[];
}

/**
 * Opens a page in Debian's Chromium, without a window and with a profile of its own, and closes it
 * when the work is done. Where that fails, a picture shows what there was to see.
 */
export async function withPage(
  name: string,
  { deviceScaleFactor = 1, flags = [], ...viewport }: Viewport,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const failure = join(screenshotFolder, `${name}-failed.png`);
  await rm(failure, { force: true });
  const profile = await mkdtemp(join(tmpdir(), "assent-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: "/usr/bin/chromium",
    headless: true,
    viewport,
    deviceScaleFactor,
    env: { ...process.env, HOME: profile, TMPDIR: profile },
    // The sandbox needs user namespaces, which containers and root do not have; nothing but our own
    // loopback pages is opened.
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
      ...flags,
    ],
  });
  try {
    context.setDefaultTimeout(waitLimit);
    const page = await context.newPage();
    try {
      await work(page);
    } catch (error) {
      await page.screenshot({ path: failure });
      throw error;
    }
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The errors in a page's console and scripts, from now on. */
export function errorsOf(page: Page): readonly string[] {
  const errors: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  return errors;
}
