// npm run demo: the panel in a browser, with the example servers and the offline model.
// `npm run demo -- --workspace FOLDER` has the servers of that folder's .vscode/mcp.json instead. It asks in the terminal
// before a new or changed one runs; with --trust it does not.
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { KeptFiles } from "../extension/src/keptFiles.ts";
import { Relay } from "../extension/src/relay.ts";
import { Sidecar } from "../extension/src/sidecar.ts";
import {
  buildExampleServers,
  examplePrompts,
  writeExampleWorkspace,
} from "./playground/exampleServers.ts";
import { editorHandlers, hostHandlers, introduction } from "./playground/host.ts";
import { openBrowser } from "./playground/openBrowser.ts";
import { Pages } from "./playground/pages.ts";
import { startPlayground } from "./playground/server.ts";
import { buildSidecar, buildWebview } from "./setup/build.ts";
import { cacheFolder, extensionFolder, sidecarBinary } from "./setup/paths.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    // Where the demo's workspace and its tasks are kept.
    folder: { type: "string", default: join(cacheFolder, "demo") },
    // A workspace of the person's own.
    workspace: { type: "string" },
    trust: { type: "boolean", default: false },
    "log-level": { type: "string", default: "warn" },
  },
});
const workspace = resolve(values.workspace ?? join(values.folder, "workspace"));
// What the offline model can carry through is said only where its servers are.
const prompts = values.workspace === undefined ? examplePrompts : undefined;
const examples = async () => {
  await Promise.all([buildExampleServers(), writeExampleWorkspace(workspace)]);
};

await Promise.all([
  buildSidecar(),
  buildWebview(),
  values.workspace === undefined ? examples() : undefined,
]);

const data = join(values.folder, "data");
const keptFiles = new KeptFiles(join(data, "unsent"));
const pages = new Pages((open) => relay.tell("host/pages", { pages: open }));
const sidecar = new Sidecar({
  command: sidecarBinary,
  args: () => ["serve", "--data-dir", data, "--log-level", values["log-level"]],
  initializeParams: async () =>
    introduction(workspace, values.workspace === undefined || values.trust),
  log: (line) => console.error(line),
  handlers: editorHandlers(pages),
});
sidecar.onStatus((status) => {
  if ("reason" in status) console.error(status.reason);
  if (status.state !== "running") pages.clear();
});
const relay = new Relay(sidecar);
sidecar.start();
const playground = await startPlayground({
  port: Number(values.port),
  webview: join(extensionFolder, "dist", "webview"),
  attach: ({ connection }) =>
    relay.attach(connection, hostHandlers(sidecar, pages, workspace, keptFiles, prompts)),
});

console.log(`Assent is at ${playground.url}\nCtrl-C stops it.`);
openBrowser(playground.url);

let stopping = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, async () => {
    // npm and the terminal may each pass the same Ctrl-C on.
    if (stopping) return;
    stopping = true;
    await Promise.all([playground.stop(), sidecar.stop()]);
    process.exit();
  });
}
