// npm run soak: a day of asks in half an hour, see scripts/bench/soak.go. Its options are passed on, such as
// `npm run soak -- -asks 20000 -seed 1`.
import { run } from "../tools/lib/command.ts";

run("go", ["run", "./scripts/bench", "soak", ...process.argv.slice(2)]).catch((error: Error) => {
  console.error(`soak: ${error.message}`);
  process.exitCode = 1;
});
