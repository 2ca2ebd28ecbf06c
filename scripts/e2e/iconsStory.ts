import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { Looks } from "./looks.ts";
import type { Panel } from "./panel.ts";
import { step } from "./step.ts";

/** The server with icons: scripts/testservers/seats. A call of its tool is the last one of the open task. */
const server = "seats";

/** A look at the icons of a server, its tools, resources and prompts, wherever their names stand. */
export async function lookAtIcons(page: Page, panel: Panel, looks: Looks): Promise<void> {
  await step("icons stand before names, without those that may not be shown", async () => {
    const title = panel.call(server, "book").getByRole("heading");
    const wear = (theme: string) =>
      page.evaluate((name) => document.body.setAttribute("data-theme", name), theme);
    await wear("light");
    await shows(title, "#1b3a5c");
    await wear("dark");
    await shows(title, "#9fd0ff");
    await looks.inEachSize(page, "icons-call");
    const runner = await panel.useServer(server, "Prompts");
    await runner.getByLabel("Prompt", { exact: true }).selectOption("0");
    await shows(runner, "#1467c8", "#c2571a");
    await panel.useServer(server, "Resources");
    await runner.getByLabel("Template", { exact: true }).selectOption("0");
    await shows(runner, "#1467c8", "#2f8f4e", "#2f8f4e");
    await looks.inEachSize(page, "icons-runner-resources");
    await panel.useServer(server, "Tools");
    await runner.getByLabel("Tool", { exact: true }).selectOption("0");
    await shows(runner, "#1467c8", "#9fd0ff");
    await looks.inEachSize(page, "icons-runner");
    await runner.getByRole("button", { name: /^Use a Server/ }).click();
    await panel.chooseInHead("Servers");
    await shows(panel.servers(), "#1467c8");
    await looks.inEachSize(page, "icons-servers");
    await panel.listedServer(server).click();
    const about = panel.serverPage(server);
    for (const kind of [/^Tools/, /^Resources/, /^Prompts/]) await about.getByText(kind).click();
    await shows(about, "#1467c8", "#9fd0ff", "#2f8f4e", "#c2571a");
    await about.getByText("Seats on Flights").waitFor();
    await looks.inEachSize(page, "icons-server");
    await panel.leavePages();
  });
}

/** Waits until the icons in an element are pictures with these colours, which the browser has drawn. */
async function shows(element: Locator, ...colours: readonly string[]): Promise<void> {
  const icons = element.locator("img");
  await icons.nth(colours.length - 1).waitFor();
  const drawn = await icons.evaluateAll((images) =>
    Promise.all(
      images.map(async (image) => {
        const { src, naturalWidth, decode } = image as HTMLImageElement;
        await decode.call(image);
        return naturalWidth > 0 ? atob(src.slice(src.indexOf(",") + 1)) : src;
      }),
    ),
  );
  const found = drawn.map((text) => colours.find((colour) => text.includes(colour)));
  assert.deepEqual(found, colours);
}
