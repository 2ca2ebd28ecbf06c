// A playground in a process of its own, for tests that try to end it: it prints its URL and answers the request "echo".
import { join } from "node:path";
import { extensionFolder } from "../../../tools/lib/paths.ts";
import { startPlayground } from "../server.ts";

const playground = await startPlayground({
  port: 0,
  webview: join(extensionFolder, "media"),
  attach({ connection }) {
    connection.onRequest("echo", (params: unknown) => params);
    connection.listen();
  },
});
console.log(playground.url);
process.once("SIGTERM", () => void playground.stop());
