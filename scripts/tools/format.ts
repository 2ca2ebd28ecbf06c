// npm run format: puts every file into the form that the tests ask for.
import { run, runPackage } from "./lib/command.ts";
import { goFolders, goTool } from "./lib/goTools.ts";
import { writeGuideTables } from "./lib/guide.ts";
import { writeTexts } from "./lib/l10n.ts";

await writeTexts();
await writeGuideTables();
await run("go", goTool("gofumpt", "-w", ...goFolders));
await runPackage("@biomejs/biome/bin/biome", ["check", "--write"]);
