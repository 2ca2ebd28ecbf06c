import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createBridge } from "./bridge.ts";
import type { Client } from "./client.ts";
import { emptyViewState } from "./viewState.ts";

interface Wire {
  readonly id: string | number;
  readonly method: string;
  readonly params?: unknown;
}

describe("in VS Code", () => {
  const posted: Wire[] = [];
  const api = {
    postMessage: (message: Wire) => posted.push(structuredClone(message)),
    getState: vi.fn(),
    setState: vi.fn(),
  };
  const deliver = (data: unknown) => window.dispatchEvent(new MessageEvent("message", { data }));
  const connect = () =>
    new Promise<Client>((resolve) => createBridge().connect({ up: resolve, down: () => {} }));

  beforeEach(() => {
    posted.length = 0;
    vi.stubGlobal("acquireVsCodeApi", () => api);
  });
  afterEach(() => vi.unstubAllGlobals());

  test("messages go as they are, and other messages are not ours", async () => {
    const client = await connect();
    const list = client.request("task/list");
    await vi.waitFor(() => expect(posted).toHaveLength(1));
    expect(posted[0]).toMatchObject({ jsonrpc: "2.0", method: "task/list" });
    deliver("something else");
    deliver({ id: posted[0]?.id, result: "no JSON-RPC" });
    deliver({ jsonrpc: "2.0", id: posted[0]?.id, result: { tasks: [] } });
    await expect(list).resolves.toEqual({ tasks: [] });
    client.dispose();
  });

  test("a sandboxed frame of the page does not speak for the host", async () => {
    const client = await connect();
    const list = client.request("task/list");
    await vi.waitFor(() => expect(posted).toHaveLength(1));
    const say = (origin: string, tasks: readonly unknown[]) => {
      const data = { jsonrpc: "2.0", id: posted[0]?.id, result: { tasks } };
      window.dispatchEvent(new MessageEvent("message", { origin, data }));
    };
    say("vscode-webview://host", []);
    // The connection would take the last of two responses that come at once.
    say("null", [{ id: "forged" }]);
    await expect(list).resolves.toEqual({ tasks: [] });
    client.dispose();
  });

  test("the view's state is VS Code's to keep", () => {
    const { storage } = createBridge();
    storage.save(emptyViewState);
    expect(api.setState).toHaveBeenCalledWith(emptyViewState);
    api.getState.mockReturnValue({ drafts: {} });
    expect(storage.load()).toEqual({ drafts: {} });
  });
});

describe("in a browser", () => {
  class FakeSocket extends EventTarget {
    static readonly opened: FakeSocket[] = [];
    readonly url: string;
    readonly sent: Wire[] = [];

    constructor(url: URL) {
      super();
      this.url = url.href;
      FakeSocket.opened.push(this);
    }

    send(text: string) {
      this.sent.push(JSON.parse(text));
    }
  }
  const last = () => {
    const socket = FakeSocket.opened.at(-1);
    if (socket === undefined) throw new Error("no socket was opened");
    return socket;
  };

  beforeEach(() => {
    FakeSocket.opened.length = 0;
    vi.stubGlobal("WebSocket", FakeSocket);
    vi.useFakeTimers();
    window.history.replaceState({}, "", "/?token=s%26cret");
  });
  afterEach(() => vi.unstubAllGlobals());

  test("messages go as text over a WebSocket that shows the page's token", async () => {
    const up = vi.fn<(client: Client) => void>();
    createBridge().connect({ up, down: () => {} });
    expect(last().url).toBe("ws://localhost:3000/bridge?token=s%26cret");
    last().dispatchEvent(new Event("open"));
    const list = up.mock.calls[0]?.[0].request("task/list");
    await vi.waitFor(() => expect(last().sent).toHaveLength(1));
    const answer = JSON.stringify({
      jsonrpc: "2.0",
      id: last().sent[0]?.id,
      result: { tasks: [] },
    });
    last().dispatchEvent(new MessageEvent("message", { data: answer }));
    await expect(list).resolves.toEqual({ tasks: [] });
  });

  test("a lost link is told, and tried again after growing pauses", () => {
    const up = vi.fn();
    const down = vi.fn();
    createBridge().connect({ up, down });
    for (const pause of [500, 1000, 2000, 4000, 8000, 10_000, 10_000]) {
      const opened = FakeSocket.opened.length;
      last().dispatchEvent(new Event("close"));
      expect(down).toHaveBeenLastCalledWith(pause);
      vi.advanceTimersByTime(pause - 1);
      expect(FakeSocket.opened).toHaveLength(opened);
      vi.advanceTimersByTime(1);
      expect(FakeSocket.opened).toHaveLength(opened + 1);
    }
    last().dispatchEvent(new Event("open"));
    expect(up).toHaveBeenCalledTimes(1);
    last().dispatchEvent(new Event("close"));
    expect(down).toHaveBeenLastCalledWith(500);
  });

  test("the view's state outlives the page, and damage to it does no harm", () => {
    createBridge().storage.save({ ...emptyViewState, openTaskId: "t1" });
    expect(createBridge().storage.load()).toMatchObject({ openTaskId: "t1" });
    window.sessionStorage.setItem("assent.viewState", "{");
    expect(createBridge().storage.load()).toBeUndefined();
  });
});
