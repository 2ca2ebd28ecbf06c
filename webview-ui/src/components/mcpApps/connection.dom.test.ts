import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type AppHandlers, connectApp } from "./connection.ts";
import { waitLimitMs } from "./limits.ts";

let frame: HTMLIFrameElement;
const sent: unknown[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  sent.length = 0;
  frame = document.createElement("iframe");
  document.body.append(frame);
  vi.spyOn(frame.contentWindow as Window, "postMessage").mockImplementation((said: unknown) => {
    const { assentApp } = said as { readonly assentApp?: string };
    if (assentApp !== undefined) sent.push(JSON.parse(assentApp));
  });
});

afterEach(() => frame.remove());

function connect(handlers: Partial<AppHandlers> = {}) {
  const stopped = vi.fn();
  const connection = connectApp(
    frame,
    { capabilities: {}, tool: undefined, maxHeight: 600 },
    { ready() {}, sized() {}, stopped, request: async () => ({}), ...handlers },
  );
  const post = (data: unknown) =>
    window.dispatchEvent(new MessageEvent("message", { data, source: frame.contentWindow }));
  const say = (said: object) => post({ assentApp: JSON.stringify({ jsonrpc: "2.0", ...said }) });
  return { connection, stopped, post, say };
}

test("a frame that never answers is given up", () => {
  const { stopped } = connect();
  vi.advanceTimersByTime(waitLimitMs - 1);
  expect(stopped).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(stopped).toHaveBeenCalledExactlyOnceWith("silent");
});

test("a frame that answered may take its time", () => {
  const { stopped, post } = connect();
  post({ assentAppReady: true });
  vi.advanceTimersByTime(10 * waitLimitMs);
  expect(stopped).not.toHaveBeenCalled();
});

test("an app has no more than 16 requests under way", async () => {
  const request = vi.fn(() => new Promise(() => {}));
  const { say } = connect({ request });
  for (let id = 0; id < 20; id++) say({ id, method: "tools/call" });
  await vi.advanceTimersByTimeAsync(0);
  expect(request).toHaveBeenCalledTimes(16);
  expect(sent).toHaveLength(4);
  expect(sent[0]).toMatchObject({ id: 16, error: { code: -32000 } });
});

test.each([
  ["no object", "3"],
  ["a list", "[]"],
  ["a response that nobody waits for", '{"jsonrpc":"2.0","id":7,"result":{}}'],
  ["an id that is none", '{"jsonrpc":"2.0","id":{},"method":"ping"}'],
  ["a long id", JSON.stringify({ jsonrpc: "2.0", id: "x".repeat(201), method: "ping" })],
  ["a method that is none", '{"jsonrpc":"2.0","id":1,"method":{}}'],
  ["an unknown notification", '{"jsonrpc":"2.0","method":"ui/notifications/what"}'],
])("%s changes nothing", async (_name, assentApp) => {
  const { post, stopped } = connect();
  post({ assentApp });
  await vi.advanceTimersByTimeAsync(0);
  expect(sent).toEqual([]);
  expect(stopped).not.toHaveBeenCalled();
});

test("what comes before the app is ready waits for it, except the look", async () => {
  const { connection, say } = connect();
  connection.notify("ui/notifications/tool-input", { arguments: {} });
  connection.notify("ui/notifications/host-context-changed", { theme: "dark" });
  expect(sent).toEqual([]);
  say({ method: "ui/notifications/initialized" });
  say({ method: "ui/notifications/initialized" });
  expect(sent).toMatchObject([{ method: "ui/notifications/tool-input" }]);
  document.body.dataset["theme"] = "light";
  await vi.advanceTimersByTimeAsync(0);
  expect(sent.at(-1)).toMatchObject({
    method: "ui/notifications/host-context-changed",
    params: { theme: "light" },
  });
  delete document.body.dataset["theme"];
});

test("an app that does not end is ended after half a second", async () => {
  const { connection, say } = connect();
  say({ method: "ui/notifications/initialized" });
  const over = vi.fn();
  void connection.tearDown().then(over);
  await vi.advanceTimersByTimeAsync(499);
  expect(over).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(over).toHaveBeenCalledOnce();
});

test("a disposed connection neither hears nor says anything", async () => {
  const request = vi.fn(async () => ({}));
  const { connection, say, stopped } = connect({ request });
  connection.dispose();
  say({ id: 1, method: "tools/call" });
  await vi.advanceTimersByTimeAsync(10 * waitLimitMs);
  expect(request).not.toHaveBeenCalled();
  expect(stopped).not.toHaveBeenCalled();
  expect(sent).toEqual([]);
});
