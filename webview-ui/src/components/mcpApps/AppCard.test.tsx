import type { Call, OpenAppParams, OpenAppResult } from "@assent/protocol";
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import { showApp } from "../../testing/app.tsx";
import { frameOf } from "../../testing/appFrame.ts";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { at, call, message, task } from "../../testing/samples.ts";

// The half second before something can be pressed has a test of its own.
vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

const opened: OpenAppResult = {
  appId: "app1",
  url: "http://127.0.0.1:40123/frame/app1",
  tool: { name: "seats", inputSchema: { type: "object" } },
};
const seats: Partial<Call> = {
  request: { type: "tools/call", toolName: "seats", arguments: { row: 3 } },
  appUri: "ui://database/seats",
  endedAt: at + 5,
  result: { type: "result", content: [{ type: "text", text: "3 seats" }], _meta: { seats: 3 } },
};

type Open = (params: OpenAppParams) => OpenAppResult;

/** The panel with a call that has an app, and the two frames of the app. */
async function show(part: Partial<Call> = {}, open: Open = () => opened, serve = vi.fn()) {
  const host = new FakeHost(task(), [message(1, call({ ...seats, ...part }))], {
    "app/open": (params) => open(params),
    "app/close": () => ({}),
    "app/request": (params) => ({ result: serve(params) }),
  });
  const panel = showApp(host);
  await screen.findByRole("heading", { name: "App of database" });
  return { ...panel, host, serve };
}

/** Shows an app that is ready. */
async function ready(...args: Parameters<typeof show>) {
  const panel = await show(...args);
  await screen.findByTitle("App of database: seats");
  const app = frameOf("App of database: seats");
  await app.post({ assentAppReady: true });
  await app.say({ id: 1, method: "ui/initialize", params: {} });
  await app.say({ method: "ui/notifications/initialized" });
  const answer = async (id: number) => {
    await waitFor(() => expect(app.heard).toContainEqual(expect.objectContaining({ id })));
    return app.heard.find((said) => (said as { id?: unknown }).id === id);
  };
  return { ...panel, ...app, answer };
}

describe("an app", () => {
  test("is shown in a sandbox, and gets the call's input and result", async () => {
    const { host, container, frame, heard } = await ready();
    expect(host.calls("app/open")).toEqual([{ taskId: "t1", messageId: 1 }]);
    expect(frame.getAttribute("sandbox")).toBe("allow-scripts allow-forms");
    expect(frame.getAttribute("allow")).toBe("");
    expect(frame.src).toBe(opened.url);
    expect(heard[0]).toMatchObject({
      id: 1,
      result: {
        protocolVersion: "2026-01-26",
        hostInfo: { name: "assent" },
        hostCapabilities: { openLinks: {}, serverTools: {}, serverResources: {} },
        hostContext: {
          displayMode: "inline",
          availableDisplayModes: ["inline"],
          toolInfo: { tool: opened.tool },
        },
      },
    });
    // Apps take zeros for their padding.
    expect(heard[0]).not.toHaveProperty("result.hostContext.safeAreaInsets");
    expect(heard.slice(1)).toEqual([
      {
        jsonrpc: "2.0",
        method: "ui/notifications/tool-input",
        params: { arguments: { row: 3 } },
      },
      {
        jsonrpc: "2.0",
        method: "ui/notifications/tool-result",
        params: { content: [{ type: "text", text: "3 seats" }], _meta: { seats: 3 } },
      },
    ]);
    expect(screen.queryByText("3 seats")).toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  });

  test("gets the result of a call that still runs", async () => {
    const running: Partial<Call> = { ...seats };
    delete running.result;
    delete running.endedAt;
    const host = new FakeHost(task(), [message(1, call(running))], { "app/open": () => opened });
    showApp(host);
    await screen.findByTitle("App of database: seats");
    const { heard, say } = frameOf("App of database: seats");
    await say({ method: "ui/notifications/initialized" });
    expect(heard).toHaveLength(1);
    await host.event({
      type: "callEnded",
      messageId: 1,
      endedAt: at + 5,
      result: { type: "cancelled" },
    });
    await waitFor(() =>
      expect(heard[1]).toMatchObject({ method: "ui/notifications/tool-cancelled" }),
    );
    screen.getByText("Cancelled before it ended.");
  });

  test("has the height that it wants, within bounds", async () => {
    const { frame, say } = await ready();
    const wants = async (height: unknown) => {
      await say({ method: "ui/notifications/size-changed", params: { height } });
      return frame.style.height;
    };
    expect(await wants(320.4)).toBe("320px");
    expect(await wants(5)).toBe("60px");
    expect(await wants(100_000)).toBe("600px");
    expect(await wants("1px; position: fixed")).toBe("600px");
    expect(await wants(-1)).toBe("600px");
  });

  test("leaves its room when it ends under the pointer", async () => {
    const { frame, say, post } = await ready();
    await say({ method: "ui/notifications/size-changed", params: { height: 320 } });
    const room = frame.parentElement as HTMLElement;
    const hover = vi.spyOn(room, "matches").mockImplementation((what) => what === ":hover");
    await post({ assentAppStopped: "navigation" });
    screen.getByText("3 seats");
    expect(room.style.height).toBe("320px");
    hover.mockReturnValue(false);
    await waitFor(() => expect(room.style.height).toBe(""));
  });

  test("is answered what is only about the view", async () => {
    const { say, answer, serve, host } = await ready();
    await say({ id: 2, method: "ping" });
    expect(await answer(2)).toMatchObject({ result: {} });
    await say({ id: 3, method: "ui/request-display-mode", params: { mode: "fullscreen" } });
    expect(await answer(3)).toMatchObject({ result: { mode: "inline" } });
    await host.caughtUp();
    expect(serve).not.toHaveBeenCalled();
  });

  test("gets its server's results and errors", async () => {
    const serve = vi.fn().mockReturnValueOnce({ content: [] });
    const { say, answer } = await ready({}, undefined, serve);
    const params = { name: "refresh", arguments: {} };
    await say({ id: 2, method: "tools/call", params });
    expect(await answer(2)).toMatchObject({ result: { content: [] } });
    expect(serve).toHaveBeenCalledExactlyOnceWith({
      taskId: "t1",
      appId: "app1",
      method: "tools/call",
      params,
    });
    serve.mockImplementationOnce(() => {
      throw new Error("no");
    });
    await say({ id: 3, method: "resources/read", params: { uri: "a://b" } });
    expect(await answer(3)).toMatchObject({ error: { message: expect.any(String) } });
  });

  test("is closed with its row", async () => {
    const { host, unmount } = await ready();
    unmount();
    await waitFor(() => expect(host.calls("app/close")).toEqual([{ taskId: "t1", appId: "app1" }]));
  });
});

describe("an app outlives the sidecar", () => {
  const restart = async (host: FakeHost) => {
    await host.tell("host/sidecarStatus", { state: "restarting", retryInMs: 0, reason: "killed" });
    await screen.findByText(/^Assent stopped/);
    await host.tell("host/sidecarStatus", { state: "running" });
    await waitFor(() => expect(screen.queryByText(/^Assent stopped/)).toBeNull());
  };
  const list = { method: "resources/list", params: {} };

  test("with its frame and the focus, and is opened in the next one by its first requests", async () => {
    const ids = ["app1", "app2"];
    const { host, frame, say, answer, serve } = await ready(
      {},
      () => ({ ...opened, appId: ids.shift() ?? "" }),
      vi.fn(() => ({ resources: [] })),
    );
    frame.focus();
    await restart(host);
    expect(host.calls("app/open")).toHaveLength(1);
    await say({ id: 2, ...list });
    await say({ id: 3, ...list });
    expect(await answer(2)).toMatchObject({ result: { resources: [] } });
    expect(await answer(3)).toMatchObject({ result: { resources: [] } });
    expect(host.calls("app/open").slice(1)).toEqual([{ taskId: "t1", messageId: 1 }]);
    expect(serve).toHaveBeenCalledWith({ taskId: "t1", appId: "app2", ...list });
    expect(serve).toHaveBeenCalledTimes(2);
    expect(screen.getByTitle("App of database: seats")).toBe(frame);
    expect(document.activeElement).toBe(frame);
  });

  test.each<readonly [string, OpenAppResult]>([
    ["would be asked for again", { asks: ["https://a.example"] }],
    ["are not allowed any more", { ...opened, appId: "app2", network: "without" }],
  ])("but not if its addresses %s", async (_name, second) => {
    const results: OpenAppResult[] = [{ ...opened, network: "allow" }, second];
    const open = vi.fn<Open>(() => results.shift() ?? second);
    const { host, say, answer, serve } = await ready({}, open);
    await restart(host);
    await say({ id: 2, ...list });
    expect(await answer(2)).toMatchObject({
      error: { message: "The app is not open any more. Reload it." },
    });
    await host.caughtUp();
    expect(serve).not.toHaveBeenCalled();
    expect(host.calls("app/close")).toEqual(
      second.appId === undefined ? [] : [{ taskId: "t1", appId: "app2" }],
    );
  });
});

describe("nothing but the frame speaks for an app", () => {
  test("another window is not heard", async () => {
    const { post, heard } = await ready();
    const before = heard.length;
    await post({ assentApp: '{"jsonrpc":"2.0","id":9,"method":"ping"}' }, window);
    await post({ jsonrpc: "2.0", id: 9, method: "ping" });
    expect(heard).toHaveLength(before);
  });

  test.each([
    ["sent too many messages", { assentAppStopped: "messages" }],
    ["sent a message that is too long", { assentAppStopped: "size" }],
    ["went to another page", { assentAppStopped: "navigation" }],
    ["went to another page", { assentAppStopped: "<b>something else" }],
  ])("it is stopped because it %s", async (words, said) => {
    const { post, host } = await ready();
    await post(said);
    screen.getByText(`The app was stopped because it ${words}.`);
    screen.getByText("3 seats");
    expect(screen.queryByTitle("App of database: seats")).toBeNull();
    await waitFor(() => expect(host.calls("app/close")).toHaveLength(1));
  });

  test("it is stopped when it goes past the outer frame", async () => {
    const { post, contentWindow } = await ready();
    const within = { parent: contentWindow } as unknown as Window;
    const source = Object.assign(new MessageChannel().port1, within) as unknown as Window;
    for (let n = 0; n < 3; n++) await post({ jsonrpc: "2.0" }, source);
    screen.getByTitle("App of database: seats");
    await post({ jsonrpc: "2.0" }, source);
    screen.getByText("The app was stopped because it sent messages past its frame.");
  });
});

describe("the person decides", () => {
  test("whether an app may load from the addresses that its server declares", async () => {
    const open = vi.fn<Open>(({ network }) =>
      network === undefined
        ? { asks: ["https://a.example", "https://*.b.example"], refused: ["https://localhost"] }
        : opened,
    );
    const { user, container } = await show({}, open);
    const allow = await screen.findByRole("button", { name: "Allow" });
    screen.getByText("https://*.b.example");
    screen.getByText("No app may load from https://localhost.");
    expect(container.textContent).toContain(
      "database's app wants to load from these addresses. The app can send its content there.",
    );
    expect(await axeFindings(container)).toEqual([]);
    await user.click(allow);
    await screen.findByTitle("App of database: seats");
    expect(open).toHaveBeenLastCalledWith({ taskId: "t1", messageId: 1, network: "allow" });
  });

  test("that it may not", async () => {
    const open = vi.fn<Open>(({ network }) =>
      network === undefined ? { asks: ["https://a.example"] } : opened,
    );
    const { user } = await show({}, open);
    await user.click(await screen.findByRole("button", { name: "Show Without" }));
    await screen.findByTitle("App of database: seats");
    expect(open).toHaveBeenLastCalledWith({ taskId: "t1", messageId: 1, network: "without" });
  });

  test("whether a message goes into the composer, and sends it", async () => {
    const { user, say, answer, host } = await ready();
    const content = [{ type: "text", text: "Book seat 3\u202e" }];
    await say({ id: 2, method: "ui/message", params: { role: "user", content } });
    const wish = await screen.findByRole("region", { name: "database's app asks" });
    within(wish).getByText("Book seat 3[U+202E]");
    await say({ id: 3, method: "ui/message", params: { role: "user", content } });
    expect(await answer(3)).toMatchObject({ error: {} });
    await user.click(within(wish).getByRole("button", { name: "Put into Message" }));
    expect(await answer(2)).toMatchObject({ result: {} });
    const composer = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
    await waitFor(() => expect(composer.value).toBe("From database's app:\n\nBook seat 3\u202e"));
    await host.caughtUp();
    expect(host.calls("chat/send")).toEqual([]);
  });

  test("whether a link is opened, which is shown whole", async () => {
    const serve = vi.fn(() => ({ url: "https://example.com/a?b" }));
    const { user, say, answer, container } = await ready({}, undefined, serve);
    await say({ id: 2, method: "ui/open-link", params: { url: "https://example.com/a?b" } });
    const link = await screen.findByRole("link", { name: "Open in Browser" });
    expect(link.getAttribute("href")).toBe("https://example.com/a?b");
    expect(link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(screen.getByRole("region", { name: "database's app asks" }).textContent).toContain(
      "https://example.com/a?b",
    );
    expect(await axeFindings(container)).toEqual([]);
    await user.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(await answer(2)).toMatchObject({ result: { isError: true } });
  });

  test.each(["Dismiss", "Open in Browser"])("%s, and is in the app again", async (name) => {
    const serve = vi.fn(() => ({ url: "https://example.com/" }));
    const { user, say, frame } = await ready({}, undefined, serve);
    frame.focus();
    await say({ id: 2, method: "ui/open-link", params: { url: "https://example.com/" } });
    await user.click(await screen.findByText(name));
    fireEvent.blur(window); // as when a frame gets the focus
    expect(screen.queryByText(name)).toBeNull();
    expect(document.activeElement).toBe(frame);
  });

  test("and is where the focus was, or at the call", async () => {
    const { user, say } = await ready();
    const menu = screen.getByRole("button", { name: "Actions for the app" });
    const params = { role: "user", content: [{ type: "text", text: "x" }] };
    const dismiss = async (id: number) => {
      await say({ id, method: "ui/message", params });
      await user.click(await screen.findByRole("button", { name: "Dismiss" }));
      return document.activeElement;
    };
    menu.focus();
    expect(await dismiss(2)).toBe(menu);
    menu.blur();
    expect(await dismiss(3)).toBe(screen.getByRole("article", { name: "seats of database" }));
  });

  test("and what else has the focus keeps it", async () => {
    const { user, say } = await ready();
    await say({
      id: 2,
      method: "ui/message",
      params: { role: "user", content: [{ type: "text", text: "x" }] },
    });
    await user.click(await screen.findByRole("button", { name: "Put into Message" }));
    const composer = screen.getByRole("textbox", { name: "Message" });
    await waitFor(() => expect(document.activeElement).toBe(composer));
  });

  test("three times no, and is not asked a fourth time", async () => {
    const { user, say, answer } = await ready();
    const params = { role: "user", content: [{ type: "text", text: "x" }] };
    for (const id of [2, 3, 4]) {
      await say({ id, method: "ui/message", params });
      await user.click(await screen.findByRole("button", { name: "Dismiss" }));
      expect(await answer(id)).toMatchObject({ result: { isError: true } });
    }
    await say({ id: 5, method: "ui/message", params });
    expect(await answer(5)).toMatchObject({ error: { message: expect.any(String) } });
    expect(screen.queryByRole("button", { name: "Dismiss" })).toBeNull();
  });

  test("what of an app's context the model gets", async () => {
    const { user, say, answer, host } = await ready();
    const context = (id: number, text: string) =>
      say({
        id,
        method: "ui/update-model-context",
        params: { content: [{ type: "text", text }] },
      });
    await context(2, "row 3");
    await context(3, "row 4");
    expect(await answer(3)).toMatchObject({ result: {} });
    const name = "context of database's app seats (1)";
    expect(await screen.findAllByText(name)).toHaveLength(1);
    await user.type(screen.getByRole("textbox", { name: "Message" }), "Hello{Enter}");
    await waitFor(() => expect(host.calls("chat/send")).toHaveLength(1));
    expect(host.calls("chat/send")).toMatchObject([
      {
        files: [
          {
            name,
            content: {
              type: "text",
              text: "The MCP app of database wrote this, and not the user:\n\nrow 4",
            },
          },
        ],
      },
    ]);
  });
});

describe("the menu", () => {
  const choose = async (user: Awaited<ReturnType<typeof show>>["user"], entry: string) => {
    await user.click(screen.getByRole("button", { name: "Actions for the app" }));
    await user.click(screen.getByRole("menuitem", { name: entry }));
  };

  test("shows the plain result and hides it", async () => {
    const { user } = await ready();
    await choose(user, "Show Plain Result");
    screen.getByText("3 seats");
    await choose(user, "Hide Plain Result");
    expect(screen.queryByText("3 seats")).toBeNull();
  });

  test("stops the app, which hears of it first, and opens it again", async () => {
    const { user, host, heard, say } = await ready();
    await choose(user, "Stop App");
    expect(heard.at(-1)).toMatchObject({ method: "ui/resource-teardown" });
    await say({ id: "assent-teardown", result: {} });
    await screen.findByText("You stopped the app.");
    screen.getByText("3 seats");
    await choose(user, "Reload App");
    await screen.findByTitle("App of database: seats");
    expect(host.calls("app/open").at(-1)).toEqual({ taskId: "t1", messageId: 1, reload: true });
    expect(screen.queryByText("3 seats")).toBeNull();
  });

  test("an app may end itself", async () => {
    const { say } = await ready();
    await say({ method: "ui/notifications/request-teardown" });
    await say({ id: "assent-teardown", result: {} });
    await screen.findByText("The app ended itself.");
  });
});

describe("without the app, the plain result is there", () => {
  test("if its page cannot be read", async () => {
    await show({}, () => {
      throw new Error("The app of database cannot be read.");
    });
    await screen.findByText("3 seats");
    screen.getByRole("button", { name: "Actions for the app" });
  });

  test.each<readonly [string, Partial<Call>, string]>([
    [
      "if the call failed",
      { result: { type: "lost", reason: "The server is gone." } },
      "The server is gone.",
    ],
    ["if the tool has none", { appUri: undefined as never }, "3 seats"],
  ])("%s", async (_name, part, words) => {
    const body = { ...call({ ...seats, ...part }) };
    if (part.appUri === undefined && "appUri" in part) delete (body as { appUri?: string }).appUri;
    showApp(new FakeHost(task(), [message(1, body)]));
    await screen.findByText(words);
    expect(screen.queryByRole("heading", { name: "App of database" })).toBeNull();
  });
});
