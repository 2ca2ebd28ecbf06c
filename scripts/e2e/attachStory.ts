import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { eventually } from "./eventually.ts";
import type { ExtensionWindow } from "./extensionWindow.ts";
import type { Panel } from "./panel.ts";
import { runCommand } from "./quickInput.ts";
import { photograph } from "./screenshots.ts";
import { step } from "./step.ts";

const fileName = "shopping.txt";
const title = "What was open";
const typed = "Is that all?";

/** An unsent message: a file is dragged onto it, and a reload keeps both. */
export async function tellAttachments(window: ExtensionWindow): Promise<void> {
  const { page, panel, newTask, show } = window;
  const { workspace } = window.workbench;
  await writeFile(join(workspace, fileName), "Buy milk.\n");
  await newTask();
  await step("a file is dragged from VS Code onto the message", async () => {
    await runCommand(page, "Go to File...");
    await page.getByPlaceholder("Search files by name").fill(fileName);
    await page
      .getByRole("option", { name: new RegExp(`^${fileName}`) })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await dragWithShift(page, page.getByRole("tab", { name: fileName }), panel);
    await panel.attached(fileName).waitFor();
  });
  await photograph(page, "attached");
  await step("what was open, typed and attached is there after a reload", async () => {
    await panel.rename(title);
    await panel.message().fill(typed);
    // VS Code itself would have it written down within seconds.
    await keptByExtension(page, typed);
    await page.reload();
    await show();
    await panel.button(title).waitFor();
    assert.equal(await panel.message().inputValue(), typed);
    await panel.attached(fileName).getByText("10 B").waitFor();
    await panel.button("Send").click();
    await panel.text(`You attached ${fileName}`).waitFor();
    await panel.turnEnds();
    await runCommand(page, "View: Close All Editors"); // so are those of VS Code
    await page.getByRole("tab", { name: fileName }).waitFor({ state: "detached" });
  });
}

/** With Shift, VS Code passes a drag on to a webview. */
async function dragWithShift(page: Page, from: ReturnType<Page["getByRole"]>, panel: Panel) {
  const start = (await from.boundingBox()) ?? assert.fail("there is nothing to drag");
  const end = (await panel.message().boundingBox()) ?? assert.fail("there is no message");
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
  await page.mouse.down();
  await page.keyboard.down("Shift");
  await page.mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 20 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
}

/** Waits until VS Code has written down that the extension keeps a text. */
async function keptByExtension(page: Page, text: string): Promise<void> {
  await eventually(`a memento with ${text}`, async () => {
    const mementos = await page.evaluate(readMementos);
    return mementos.find((memento) => memento.includes(text));
  });
}

/** What the extension keeps in each database of the page's. */
async function readMementos(): Promise<readonly string[]> {
  const done = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const found: string[] = [];
  for (const { name = "" } of await indexedDB.databases()) {
    const database = await done(indexedDB.open(name));
    if (database.objectStoreNames.contains("ItemTable")) {
      const items = database.transaction("ItemTable").objectStore("ItemTable");
      found.push(String(await done(items.get("assent.assent"))));
    }
    database.close();
  }
  return found;
}
