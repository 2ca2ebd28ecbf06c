// A sidecar that misbehaves on demand. The first argument says how it starts. The methods below say what it does later.
import { closeSync } from "node:fs";
import { ErrorCode, exitEnded, protocolVersion } from "@assent/protocol";
import {
  createMessageConnection,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";

const mode = process.argv[2];
if (mode === "unplugged") closeSync(0);
process.stderr.write(`${JSON.stringify({ level: "info", mode, pid: process.pid })}\n`);
if (mode === "dies") process.exit(3);
if (mode === "hangs") {
  process.stderr.write(
    `${JSON.stringify({ level: "error", error: "the daemon does not answer", message: "serve" })}\n`,
  );
  process.exit(1);
}
if (mode === "older" && process.argv[3] !== "--update") {
  process.stderr.write(
    `${JSON.stringify({ level: "warn", code: "older", open: "a question is open", pid: 7 })}\n`,
  );
}
if (mode === "unplugged") await new Promise(() => setInterval(() => {}, 60_000));
if (mode === "garbage") process.stdout.write("Loading model...\r\n\r\n");

const connection = createMessageConnection(
  new StreamMessageReader(process.stdin),
  new StreamMessageWriter(process.stdout),
);

let mcpTasks: unknown = {};

connection.onRequest(async (method, params, token) => {
  switch (method) {
    case "initialize":
      if (mode === "deaf") return await new Promise(() => {});
      if (mode === "refuses") {
        throw new ResponseError(ErrorCode.VersionMismatch, "Update the extension.");
      }
      return {
        protocolVersion: mode === "old" ? protocolVersion - 1 : protocolVersion,
        serverInfo: { name: "fake", version: "0" },
      };
    case "test/echo":
      return params;
    case "test/fail":
      throw new ResponseError(ErrorCode.AskSettled, "Somebody was first.", { by: "terminal" });
    case "test/untilCancelled":
      await connection.sendNotification("test/waiting", {});
      await new Promise<void>((resolve) => token.onCancellationRequested(() => resolve()));
      throw new ResponseError(ErrorCode.RequestCancelled, "cancelled");
    case "test/crash":
      return process.exit(7);
    case "test/say":
      process.stderr.write(`${JSON.stringify(params)}\n`);
      return null;
    case "test/loseDaemon":
      return process.exit(exitEnded);
    case "test/notifyAroundAnswer":
      await connection.sendNotification("test/order", { number: 1 });
      setImmediate(() => void connection.sendNotification("test/order", { number: 2 }));
      return { between: true };
    case "test/callEditor":
      return await connection.sendRequest("input/prompt", params);
    case "test/emit":
      await connection.sendNotification("task/event", params);
      return null;
    case "test/emitUnattributed":
      await connection.sendNotification("ask/unattributedChanged", params);
      return null;
    case "test/emitOthers":
      await connection.sendNotification("ask/othersChanged", params);
      return null;
    case "test/mcpTasks":
      mcpTasks = params;
      return null;
    case "mcpTask/list":
      return mcpTasks;
    case "server/list":
      return { servers: [{ name: "a", source: "settings", transport: "stdio", state: "stopped" }] };
    case "task/list":
      return { tasks: [{ id: "a", title: "First", createdAt: 0, openAsks: 2, lastNumber: 5 }] };
    default:
      throw new ResponseError(ErrorCode.MethodNotFound, `no ${method}`);
  }
});
connection.onNotification((method, params) => {
  void connection.sendNotification("test/told", { method, params: params ?? null });
});
// A deaf one does not notice that its stdin was closed, either.
if (mode === "deaf") setInterval(() => {}, 1000);
else connection.onClose(() => process.exit(0));
connection.listen();
