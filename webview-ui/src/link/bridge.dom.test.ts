import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { emptyViewState } from "../view/viewState.ts";
import { createBridge } from "./bridge.ts";
import type { Client } from "./client.ts";

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
  const { origin } = window;
  const deliver = (data: unknown) =>
    window.dispatchEvent(new MessageEvent("message", { origin, data }));
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
    await expect.poll(() => posted).toHaveLength(1);
    expect(posted[0]).toMatchObject({ jsonrpc: "2.0", method: "task/list" });
    deliver("something else");
    deliver({ id: posted[0]?.id, result: "no JSON-RPC" });
    deliver({ jsonrpc: "2.0", id: posted[0]?.id, result: { tasks: [] } });
    await expect(list).resolves.toEqual({ tasks: [] });
    client.dispose();
  });

  test.each([
    ["sandboxed", "null"],
    ["served from this machine", "http://127.0.0.1:40123"],
    ["of VS Code, and not the page's own", "vscode-webview://other"],
    ["without an origin", ""],
  ])("a frame that is %s does not speak for the host", async (_name, from) => {
    const client = await connect();
    const list = client.request("task/list");
    await expect.poll(() => posted).toHaveLength(1);
    const say = (origin: string, tasks: readonly unknown[]) => {
      const data = { jsonrpc: "2.0", id: posted[0]?.id, result: { tasks } };
      window.dispatchEvent(new MessageEvent("message", { origin, data }));
    };
    say(origin, []);
    // The connection would take the last of two responses that come at once.
    say(from, [{ id: "forged" }]);
    await expect(list).resolves.toEqual({ tasks: [] });
    client.dispose();
  });

  test("the view's state is VS Code's to keep", () => {
    const { storage } = createBridge();
    storage.save(emptyViewState);
    expect(api.setState).toHaveBeenCalledWith(expect.objectContaining(emptyViewState));
    api.getState.mockReturnValue({ drafts: {} });
    expect(storage.load()).toEqual({ drafts: {} });
  });

  describe("the host keeps the view's state too", () => {
    const kept = () => posted.filter(({ method }) => method === "host/keepView");
    const shown = (taskId: string) => ({ params: { view: { openTaskId: taskId } } });
    const bridge = () => {
      const { storage, connect } = createBridge();
      const show = (openTaskId: string) => storage.save({ ...emptyViewState, openTaskId });
      return { show, connect: () => connect({ up: () => {}, down: () => {} }) };
    };
    beforeEach(() => {
      vi.useFakeTimers();
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    test("at once, and then the newest after a pause", async () => {
      const { show, connect } = bridge();
      connect();
      show("t1");
      await vi.advanceTimersByTimeAsync(0);
      expect(kept()).toMatchObject([shown("t1")]);
      show("t2");
      show("t3");
      await vi.advanceTimersByTimeAsync(200);
      expect(kept()).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(200);
      expect(kept()).toMatchObject([shown("t1"), shown("t3")]);
      await vi.advanceTimersByTimeAsync(1000);
      expect(kept()).toHaveLength(2);
    });

    test("also a message from before the connection", async () => {
      const { show, connect } = bridge();
      show("t1");
      connect();
      await vi.advanceTimersByTimeAsync(0);
      expect(kept()).toMatchObject([shown("t1")]);
    });
  });

  test.each([
    ["the host's, where VS Code has an older one", 1, "t2", "t2"],
    ["VS Code's, where the host has an older one", 3, "t2", "t1"],
    ["the host's, where VS Code has none", undefined, "t2", "t2"],
    ["VS Code's, where the host has none", 1, undefined, "t1"],
  ])("the view's state is %s", (_, savedAt, hosts, want) => {
    if (hosts !== undefined) {
      document.body.dataset["view"] = JSON.stringify({ openTaskId: hosts, savedAt: 2 });
    }
    api.getState.mockReturnValue(savedAt && { openTaskId: "t1", savedAt });
    expect(createBridge().storage.load()).toMatchObject({ openTaskId: want });
    delete document.body.dataset["view"];
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
    window.history.replaceState({}, "", "/view/");
  });
  afterEach(() => vi.unstubAllGlobals());

  test("messages go as text over a WebSocket beside the page", async () => {
    const up = vi.fn<(client: Client) => void>();
    createBridge().connect({ up, down: () => {} });
    expect(last().url).toBe("ws://localhost:3000/view/bridge");
    last().dispatchEvent(new Event("open"));
    const list = up.mock.calls[0]?.[0].request("task/list");
    await vi.advanceTimersByTimeAsync(0);
    expect(last().sent).toHaveLength(1);
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
