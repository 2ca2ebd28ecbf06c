import { ErrorCode } from "@assent/protocol";
import { expect, test, vi } from "vitest";
import { createMessageConnection, ResponseError } from "vscode-jsonrpc/browser";
import { pipe } from "../testing/host.ts";
import { createClient, RpcError } from "./client.ts";

function start() {
  const [here, there] = pipe();
  const host = createMessageConnection(there.reader, there.writer);
  host.listen();
  return { client: createClient(here), host };
}

test("a refusal keeps its code, its words and its data", async () => {
  const { client, host } = start();
  host.onRequest("task/open", () => {
    throw new ResponseError(ErrorCode.UnknownTask, "There is no such task.", { hint: 1 });
  });
  const refused = client.request("task/open", { taskId: "t9" });
  await expect(refused).rejects.toEqual(
    new RpcError(ErrorCode.UnknownTask, "There is no such task.", { hint: 1 }),
  );
  await expect(refused).rejects.toMatchObject({
    code: ErrorCode.UnknownTask,
    data: { hint: 1 },
  });
});

test("a request that loses its link fails as unavailable", async () => {
  const { client, host } = start();
  const received = new Promise<void>((resolve) => {
    host.onRequest("task/list", () => {
      resolve();
      return new Promise(() => {});
    });
  });
  const lost = client.request("task/list");
  await received;
  client.dispose();
  await expect(lost).rejects.toMatchObject({ code: ErrorCode.Unavailable });
});

test("giving a request up tells the other side", async () => {
  const { client, host } = start();
  const controller = new AbortController();
  host.onRequest("tools/list", (_params, token) => {
    queueMicrotask(() => controller.abort());
    return new Promise((_resolve, reject) => {
      token.onCancellationRequested(() =>
        reject(new ResponseError(ErrorCode.RequestCancelled, "Cancelled.")),
      );
    });
  });
  const request = client.request(
    "tools/list",
    { serverName: "database" },
    { signal: controller.signal },
  );
  await expect(request).rejects.toMatchObject({ code: ErrorCode.RequestCancelled });
});

test("notifications reach their handler", async () => {
  const { client, host } = start();
  const handler = vi.fn();
  client.onNotification("storage/failed", handler);
  await host.sendNotification("storage/failed", { message: "The disk is full." });
  await expect.poll(() => handler).toHaveBeenCalledWith({ message: "The disk is full." });
});
