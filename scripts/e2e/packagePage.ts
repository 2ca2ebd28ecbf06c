import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { FrameLocator, Page } from "playwright-core";
import { brokenLinks, filesOf, reachableFrom } from "../tools/lib/documents.ts";
import type { Workbench } from "./codeServer.ts";
import type { Panel } from "./panel.ts";
import { choose, runCommand } from "./quickInput.ts";
import { takeScreenshot } from "./screenshots.ts";
import { step } from "./step.ts";

/** VS Code's page of the extension, and the guide in the package, have no picture and no link that is broken. */
export async function lookAtPackage(page: Page, panel: Panel, workbench: Workbench): Promise<void> {
  await step("the extension's page is whole", async () => {
    await runCommand(page, "Extensions: Show Installed Extensions");
    await page.getByRole("listitem", { name: /^Assent, / }).click();
    const readme = shownDocument(page);
    await readme.getByRole("heading", { name: "Assent", exact: true }).waitFor();
    await assertPictures(readme);
    // VS Code takes the target from a link that its page does not follow.
    assert.equal(await readme.locator("a:not([href])").count(), 0);
    await takeScreenshot(page, "package-page");
    await runCommand(page, "View: Close All Editors");
  });
  await step("the guide opens with its pictures", async () => {
    await runCommand(page, "Assent: Get Started");
    await choose(page, "Open Guide");
    const guide = shownDocument(page);
    await guide.getByRole("heading", { name: "Guide", exact: true }).waitFor();
    assert.notEqual(await guide.locator("img").count(), 0);
    await assertPictures(guide);
    await takeScreenshot(page, "guide");
    await runCommand(page, "View: Close All Editors");
    await page.getByRole("tab", { name: /^Assent/ }).click();
    await panel.message().waitFor();
  });
  await step("no link of the package's documents leads nowhere", async () => {
    const extensions = join(workbench.folder, "extensions");
    const installed = (await readdir(extensions)).find((name) => name.startsWith("assent.assent"));
    const read = filesOf(join(extensions, installed ?? assert.fail("Assent is not installed")));
    const documents = await reachableFrom("docs/guide.md", read);
    const readable = documents.filter((name) => name.endsWith(".md"));
    assert(readable.length > 1, "the guide leads to others");
    assert.deepEqual(await brokenLinks([...readable, "readme.md", "changelog.md"], read), []);
  });
}

/** The only webview that is not the panel. */
function shownDocument(page: Page): FrameLocator {
  return page
    .frameLocator('iframe.webview.ready:not([src*="extensionId=assent.assent"])')
    .frameLocator("iframe#active-frame");
}

/** Fails if the browser could not draw one of the pictures. */
async function assertPictures(document: FrameLocator): Promise<void> {
  for (const picture of await document.locator("img").all()) {
    const width = await picture.evaluate(async (image: HTMLImageElement) => {
      await image.decode().catch(() => undefined);
      return image.naturalWidth;
    });
    assert(width > 0, `${await picture.getAttribute("alt")} is broken`);
  }
}
