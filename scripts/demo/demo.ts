// npm run demo: the panel in a browser, with the example servers and the offline model.
// `npm run demo -- --workspace FOLDER` has the servers of that folder's .vscode/mcp.json instead. A server that the person has
// not confirmed does not run there, unless --trust is given.
import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPanelAndSidecar } from "../tools/lib/build.ts";
import { cacheFolder, sidecarBinary } from "../tools/lib/paths.ts";
import { buildExampleServers, writeExampleWorkspace } from "./exampleServers.ts";
import { type Demo, demoEnvironment, openPage } from "./page.ts";

const { values } = parseArgs({
  options: {
    // Where the demo's workspace and its tasks are kept.
    folder: { type: "string", default: join(cacheFolder, "demo") },
    // A workspace of the person's own.
    workspace: { type: "string" },
    trust: { type: "boolean", default: false },
    "log-level": { type: "string", default: "warn" },
  },
});
const demo: Demo = { ...values, logLevel: values["log-level"] };
const examples = async () => {
  await Promise.all([buildExampleServers(), writeExampleWorkspace(join(demo.folder, "workspace"))]);
};

// The first build takes minutes. The person sees the reason.
const building = (what: string, build: () => Promise<void>): Promise<void> => {
  console.log(`Building ${what}…`);
  return build();
};
await Promise.all([
  building("the panel and the sidecar", buildPanelAndSidecar),
  values.workspace === undefined ? building("the example servers", examples) : undefined,
]);
if (values.workspace !== undefined) await mkdir(values.workspace, { recursive: true });

console.log(
  `Assent is at ${await openPage(demo, process.env["CI"] === undefined)}\nCtrl-C stops it.`,
);

let stopping = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    // npm and the terminal may each pass the same Ctrl-C on.
    if (stopping) return;
    stopping = true;
    const { status } = spawnSync(sidecarBinary, ["daemon", "stop", "--force"], {
      env: demoEnvironment(demo),
      stdio: ["ignore", "ignore", "inherit"],
    });
    process.exit(status ?? 1);
  });
}
// The demo lasts until it is stopped.
setInterval(() => {}, 2 ** 30);
