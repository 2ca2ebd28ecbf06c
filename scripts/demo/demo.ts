// npm run demo: the panel in a browser, with the example servers and the offline model.
// `npm run demo -- --workspace FOLDER` has the servers of that folder's .vscode/mcp.json instead. It asks in the terminal
// before a new or changed one runs; with --trust it does not.
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ExampleServer } from "../../extension/src/exampleServer.ts";
import { KeptFiles } from "../../extension/src/keptFiles.ts";
import { Relay } from "../../extension/src/relay.ts";
import { Sidecar } from "../../extension/src/sidecar.ts";
import { buildSidecar, buildWebview } from "../tools/lib/build.ts";
import { cacheFolder, extensionFolder, sidecarBinary } from "../tools/lib/paths.ts";
import {
  buildExampleServers,
  examplePrompts,
  writeExampleWorkspace,
} from "./playground/exampleServers.ts";
import { editorHandlers, hostHandlers, introduction } from "./playground/host.ts";
import { openBrowser } from "./playground/openBrowser.ts";
import { Pages } from "./playground/pages.ts";
import { startPlayground } from "./playground/server.ts";

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

// The first build takes minutes, in which the person is to know what they wait for.
const building = (what: string, build: () => Promise<void>): Promise<void> => {
  console.log(`Building ${what}…`);
  return build();
};
await Promise.all([
  building("the sidecar", buildSidecar),
  building("the panel", buildWebview),
  values.workspace === undefined ? building("the example servers", examples) : undefined,
]);

const data = join(values.folder, "data");
// A daemon of the demo's own, which ends with it: the person's may be of another version.
process.env["ASSENT_DAEMON_DIR"] = resolve(values.folder, "daemon");
const keptFiles = new KeptFiles(join(data, "unsent"));
/** For as long as the demo runs. */
const kept = new Map<string, unknown>();
const exampleServer = new ExampleServer(
  { get: (key) => kept.get(key), update: async (key, value) => void kept.set(key, value) },
  async () => sidecar.notify("workspace/didChangeConfiguration", introduce().configuration),
);
const introduce = () =>
  introduction(workspace, {
    confirmed: values.workspace === undefined || values.trust,
    exampleServer: exampleServer.added,
  });
const pages = new Pages((open) => relay.tell("host/pages", { pages: open }));
const sidecar = new Sidecar({
  command: sidecarBinary,
  args: () => ["serve", "--standalone", "--data-dir", data, "--log-level", values["log-level"]],
  initializeParams: async () => introduce(),
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
    relay.attach(
      connection,
      hostHandlers(sidecar, pages, workspace, keptFiles, exampleServer, prompts),
    ),
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
