// npm run format: puts every file into the form that the tests ask for.
import { run, runPackage } from "./setup/command.ts";
import { goFolders, goTool } from "./setup/goTools.ts";
import { writeGuideTables } from "./setup/guide.ts";
import { writeTexts } from "./setup/l10n.ts";

await writeTexts();
await writeGuideTables();
await run("go", goTool("gofumpt", "-w", ...goFolders));
await runPackage("@biomejs/biome/bin/biome", ["check", "--write"]);
