// npm run pictures: puts the pictures of the last end-to-end run that README.md shows into docs/.
import { copyFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { screenshotFolder } from "./e2e/screenshots.ts";
import { root } from "./setup/paths.ts";

/** The pictures of docs/, and the screenshot that each is. */
const pictures = {
  "panel.png": "clean-up-dark-600.png",
  "chat.png": "participant.png",
} as const;

/** They are in every package. */
const largest = 200_000;

for (const [name, screenshot] of Object.entries(pictures)) {
  const taken = join(screenshotFolder, screenshot);
  const found = await stat(taken).catch(() => undefined);
  if (found === undefined) {
    throw new Error(
      `there is no ${taken}: npm test -- --only build,package,home,workbench takes it`,
    );
  }
  if (found.size > largest)
    throw new Error(`${taken} has ${found.size} bytes, more than ${largest}`);
  await copyFile(taken, join(root, "docs", name));
  console.log(`docs/${name}: ${screenshot}, ${found.size} bytes`);
}
