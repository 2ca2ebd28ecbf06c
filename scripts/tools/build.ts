// npm run build: everything that the extension consists of, for this machine.
import { buildAll } from "./lib/build.ts";

await buildAll();
