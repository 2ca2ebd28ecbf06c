// npm run bench: measures the sidecar beside its references, see scripts/bench/main.go, and the panel, see
// scripts/bench/panel.ts. Options are passed on: `npm run bench -- -rounds 3`; `npm run bench -- -only panel`
// measures the panel alone.
import { measurePanel } from "./bench/panel.ts";
import { run } from "./setup/command.ts";

const args = process.argv.slice(2);
const only = args[args.findIndex((arg) => /^--?only$/.test(arg)) + 1];
const isChosen = args.some((arg) => /^--?only$/.test(arg));
if (!isChosen || only !== "panel") await run("go", ["run", "./scripts/bench", ...args]);
if (!isChosen || only === "panel") await measurePanel();
