import { ErrorCode } from "@assent/protocol";
import type { HostRequests } from "@assent/protocol/host";
import { describe, expect, test } from "vitest";
import { CancellationTokenSource, type MessageConnection } from "vscode-jsonrpc/node";
import { openChannel } from "./channel.ts";
import type { Handlers } from "./handlers.ts";
import { Relay } from "./relay.ts";
import type { Sidecar } from "./sidecar.ts";
import { reach, startSidecar } from "./testing/start.ts";

/** Joins a webview with a relay; both ends of what connects them are real JSON-RPC connections. */
function attach(relay: Relay, host: Handlers<HostRequests> = {}): MessageConnection {
  const hostEnd = openChannel((message) => webview.receive(structuredClone(message)));
  const webview = openChannel((message) => hostEnd.receive(structuredClone(message)));
  relay.attach(hostEnd.connection, host);
  webview.connection.listen();
  return webview.connection;
}

async function running(): Promise<{ sidecar: Sidecar; relay: Relay }> {
  const sidecar = startSidecar("works");
  await reach(sidecar, "running");
  return { sidecar, relay: new Relay(sidecar) };
}

describe("a request", () => {
  test("reaches the sidecar as it is, and so does its answer", async () => {
    const { relay } = await running();
    const webview = attach(relay);
    const params = { list: [1, "two", null], nested: { empty: {} } };
    expect(await webview.sendRequest("test/echo", params)).toEqual(params);
    expect(await webview.sendRequest("test/echo")).toBeNull();
  });

  test("fails as it failed at the sidecar", async () => {
    const { relay } = await running();
    const webview = attach(relay);
    await expect(webview.sendRequest("test/fail", {})).rejects.toMatchObject({
      code: ErrorCode.AskSettled,
      message: "Somebody was first.",
      data: { by: "terminal" },
    });
  });

  test("can be cancelled", async () => {
    const { relay } = await running();
    const webview = attach(relay);
    const waiting = new Promise((resolve) => webview.onNotification("test/waiting", resolve));
    const source = new CancellationTokenSource();
    const request = webview.sendRequest("test/untilCancelled", {}, source.token);
    await waiting;
    source.cancel();
    await expect(request).rejects.toMatchObject({ code: ErrorCode.RequestCancelled });
  });

  test("fails as unavailable while there is no sidecar", async () => {
    const sidecar = startSidecar("old");
    await reach(sidecar, "failed");
    const webview = attach(new Relay(sidecar));
    await expect(webview.sendRequest("test/echo", {})).rejects.toMatchObject({
      code: ErrorCode.Unavailable,
      message: expect.stringMatching(/protocol version/),
    });
  });

  test("fails as unavailable when the sidecar dies before it answers", async () => {
    const { relay } = await running();
    const webview = attach(relay);
    await expect(webview.sendRequest("test/crash", {})).rejects.toMatchObject({
      code: ErrorCode.Unavailable,
    });
  });

  test("to the host is the host's to answer", async () => {
    const { relay } = await running();
    const webview = attach(relay, {
      "host/ready": () => ({ status: { state: "running" }, reveal: { kind: "ask" } }),
    });
    expect(await webview.sendRequest("host/ready")).toEqual({
      status: { state: "running" },
      reveal: { kind: "ask" },
    });
  });

  test("to the host fails with the host's own words", async () => {
    const { relay } = await running();
    const webview = attach(relay, {
      "host/openConfiguration": () => Promise.reject(new Error("There is no such file.")),
    });
    await expect(webview.sendRequest("host/openConfiguration", {})).rejects.toMatchObject({
      code: ErrorCode.InternalError,
      message: "There is no such file.",
    });
  });

  test.for(["initialize", "workspace/didChangeConfiguration", "import/find", "import/apply"])(
    "of the host's own, %s, is refused",
    async (method) => {
      const { relay } = await running();
      const webview = attach(relay);
      await expect(webview.sendRequest(method, {})).rejects.toMatchObject({
        code: ErrorCode.InvalidRequest,
      });
    },
  );
});

describe("a notification", () => {
  test("of a webview reaches the sidecar, unless it is the host's own to send", async () => {
    const { relay } = await running();
    const webview = attach(relay);
    const told = new Promise((resolve) => webview.onNotification("test/told", resolve));
    await webview.sendNotification("workspace/didChangeConfiguration", { servers: { evil: {} } });
    await webview.sendNotification("test/hello", { from: "webview" });
    expect(await told).toEqual({ method: "test/hello", params: { from: "webview" } });
  });

  test("of the sidecar reaches every webview, and its place among the answers is kept", async () => {
    const { relay } = await running();
    const [first, second] = [attach(relay), attach(relay)];
    const seen: unknown[] = [];
    const done = new Promise<void>((resolve) => {
      first.onNotification("test/order", (params: { number: number }) => {
        seen.push(params);
        if (params.number === 2) resolve();
      });
    });
    const alsoTold = new Promise((resolve) => second.onNotification("test/order", resolve));
    seen.push(await first.sendRequest("test/notifyAroundAnswer", {}));
    await done;
    expect(seen).toEqual([{ number: 1 }, { between: true }, { number: 2 }]);
    await alsoTold;
  });

  test("says how the sidecar is doing", async () => {
    const { relay } = await running();
    const webview = attach(relay);
    const states: string[] = [];
    const recovered = new Promise<void>((resolve) => {
      webview.onNotification("host/sidecarStatus", ({ state }: { state: string }) => {
        states.push(state);
        if (state === "running") resolve();
      });
    });
    await expect(webview.sendRequest("test/crash", {})).rejects.toThrow();
    await recovered;
    expect(states).toEqual(["restarting", "starting", "running"]);
  });
});

test("a webview that has gone is told nothing more", async () => {
  const { relay } = await running();
  const posted: unknown[] = [];
  const gone = openChannel((message) => posted.push(message));
  relay.attach(gone.connection, {});
  gone.receive({ jsonrpc: "2.0", id: 1, method: "test/echo", params: {} });
  gone.connection.dispose();
  const witness = attach(relay);
  await witness.sendRequest("test/notifyAroundAnswer", {});
  expect(posted).toEqual([]);
});
