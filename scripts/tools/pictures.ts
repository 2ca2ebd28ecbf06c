// npm run pictures: takes the pictures of README.md and docs/ from the packaged extension, in VS Code's 2026 themes.
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { askInChat } from "../e2e/chatParticipant.ts";
import { byTyping, cleanUp, declineCleanUp, type Moment } from "../e2e/chatStory.ts";
import { installCodeServer } from "../e2e/codeServer.ts";
import { type ExtensionWindow, withExtension } from "../e2e/extensionWindow.ts";
import { resizeSideBar, wearTheme } from "../e2e/screenshots.ts";
import { buildAll } from "./lib/build.ts";
import { installDebianPackages } from "./lib/debian.ts";
import { root } from "./lib/paths.ts";
import { hostTarget, packageFor } from "./lib/vsix.ts";
import { Film, reduced } from "./pictures/film.ts";

/** They are in every package. In bytes. */
const largest = 400_000;

const docs = join(root, "docs");

/** For how many milliseconds the film shows each moment. */
const shown: Readonly<Record<Moment, number>> = {
  typing: 140,
  sent: 600,
  tool: 1800,
  request: 2400,
  review: 2000,
  form: 2000,
  ticked: 700,
  filled: 1200,
  done: 4000,
};

await installDebianPackages();
await installCodeServer();
await buildAll();
await packageFor(hostTarget());
await withExtension(
  { name: "pictures", viewport: { width: 1100, height: 720, deviceScaleFactor: 1.5 } },
  takeAll,
);
for (const name of ["ask.png", "panel-dark.png", "panel-light.png", "chat.png"]) {
  const { size } = await stat(join(docs, name));
  console.log(`docs/${name}: ${size} bytes`);
  if (size > largest) throw new Error(`docs/${name} has more than ${largest} bytes`);
}

async function takeAll({ page, panel, workbench, newTask }: ExtensionWindow): Promise<void> {
  const bar = page.locator(".part.sidebar");
  const film = new Film(bar);
  await wearTheme(page, "dark");
  await resizeSideBar(page, 460);
  const database = join(workbench.workspace, "users.db");
  await newTask();
  // The servers start, and each has VS Code ask whether it may: not a part of the film.
  await declineCleanUp(panel, database, byTyping);
  await newTask();
  await cleanUp(panel, database, async (moment) => {
    await film.shoot(shown[moment], moment === "filled");
    if (moment !== "filled") return;
    await wearTheme(page, "light");
    await take(bar, "panel-light.png");
    await wearTheme(page, "dark");
    await take(bar, "panel-dark.png");
  });
  await writeFile(join(docs, "ask.png"), film.develop());
  await newTask();
  await askInChat(page);
  await take(page.locator(".part.auxiliarybar"), "chat.png");
}

async function take(part: Locator, name: string): Promise<void> {
  const png = await part.screenshot({ animations: "disabled" });
  await writeFile(join(docs, name), reduced(png));
}
