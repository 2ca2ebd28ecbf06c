import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { Panel } from "./panel.ts";
import { step } from "./step.ts";
import { beginCompletion, server } from "./story.ts";

/** Waits until the diagram shows who has the completion, and is drawn. */
export async function seeFlow(panel: Panel, words: RegExp, participant: string): Promise<void> {
  await panel.showDiagram();
  await assertDrawn(panel.picture(words, participant));
}

/** What the browser says of the person's wishes is heeded while the picture is there. */
export async function wearPicture(page: Page, panel: Panel): Promise<void> {
  await step("the picture has the theme's colours, and keeps still where it should", async () => {
    const picture = panel.picture(/^With you/, "person");
    const drawnWith = (text: string) =>
      picture.and(page.locator(`[src*="${encodeURIComponent(text)}"]`));
    await beginCompletion(panel);
    await panel.showDiagram();
    await assertDrawn(drawnWith("animation: pulse"));
    await page.emulateMedia({ reducedMotion: "reduce" });
    await drawnWith("animation: pulse").waitFor({ state: "detached" });
    const foreground = await page.evaluate(() =>
      getComputedStyle(document.body).getPropertyValue("--vscode-foreground"),
    );
    await assertDrawn(drawnWith(`fill: ${foreground}`));
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "no-preference" });
    await drawnWith(`fill: ${foreground}`).waitFor({ state: "detached" });
    await assertDrawn(drawnWith("animation: pulse"));
    await page.emulateMedia({ colorScheme: null });
    await panel.approval(server).getByRole("button", { name: "Decline", exact: true }).click();
    await panel.text("Show diagram").waitFor({ state: "detached" });
  });
}

/** An image that the browser could not make a picture of has no size. */
async function assertDrawn(picture: Locator): Promise<void> {
  await picture.waitFor();
  const width = await picture.evaluate(async (image: HTMLImageElement) => {
    await image.decode();
    return image.naturalWidth;
  });
  assert(width > 100, `the picture is ${width} pixels wide`);
}
