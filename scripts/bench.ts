// npm run bench: measures the sidecar beside its references; see scripts/bench/main.go. Options are
// passed on: `npm run bench -- -rounds 3`.
import { run } from "./setup/command.ts";

await run("go", ["run", "./scripts/bench", ...process.argv.slice(2)]);
