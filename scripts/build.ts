// npm run build: everything that the extension consists of, for this machine.
import { buildAll } from "./setup/build.ts";

await buildAll();
