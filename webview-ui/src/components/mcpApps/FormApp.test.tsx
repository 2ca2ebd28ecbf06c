import type { Field, McpElicitation, OpenAppParams, OpenAppResult } from "@assent/protocol";
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { showApp } from "../../testing/app.tsx";
import { frameOf } from "../../testing/appFrame.ts";
import { axeFindings } from "../../testing/axe.ts";
import { isWrong, valueIn } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import { answered, ask, elicitation, message, openAsk, task } from "../../testing/samples.ts";
import { armingMs } from "../ask/useClickGuard.ts";
import { waitLimitMs } from "./limits.ts";

// In the whole panel. The half second before something can be pressed has a test of its own, and some here.
const armed = vi.hoisted(() => ({ really: false }));
vi.mock("../ask/useClickGuard.ts", async (original) => {
  const real = await original<typeof import("../ask/useClickGuard.ts")>();
  return {
    ...real,
    useClickGuard: (phase?: string) => real.useClickGuard(phase) || !armed.really,
  };
});
beforeEach(() => {
  armed.really = false;
});

/** From now on, the half second is over only when the returned function is called, which waits for its beginning. */
function holdGuard(): () => Promise<void> {
  armed.really = true;
  const held: (() => void)[] = [];
  const { setTimeout } = globalThis;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms?: number) => {
    if (ms === armingMs) held.push(run);
    return setTimeout(ms === armingMs ? () => {} : run, ms);
  }) as typeof setTimeout);
  return async () => {
    await waitFor(() => expect(held).not.toEqual([]));
    act(() => {
      for (const run of held.splice(0)) run();
    });
  };
}

const title = "App of database";
const fields: readonly Field[] = [
  { type: "string", name: "seat", title: "Seat", required: true },
  { type: "number", name: "bags", title: "Bags" },
  { type: "string", name: "pin", title: "Pin", secret: true },
];
const requestedSchema = {
  type: "object",
  properties: { seat: { type: "string" }, bags: { type: "number" }, pin: { type: "string" } },
  required: ["seat"],
};
const offered: Partial<McpElicitation> = {
  elicitationRequest: {
    message: "Which **seat**?",
    fields: [...fields],
    requestedSchema: JSON.stringify(requestedSchema),
    appUri: "ui://database/seats",
    _meta: { ui: { resourceUri: "ui://database/seats" }, free: ["3A"] },
  },
};
const opened: OpenAppResult = { appId: "app1", url: "http://127.0.0.1:40123/frame/app1" };

type Open = (params: OpenAppParams) => OpenAppResult | Promise<OpenAppResult>;

interface Options {
  readonly open?: Open;
  readonly draft?: unknown;
  readonly question?: Partial<McpElicitation>;
}

/** The panel with an ask that has an app. The sidecar allows the seats of row 3. */
async function show({ open = () => opened, draft, question = offered }: Options = {}) {
  const body = ask("a1", elicitation(fields, question));
  const host = new FakeHost(
    task({ openAsks: 1 }),
    [message(7, draft === undefined ? body : { ...body, draft })],
    {
      "app/open": (params) => open(params),
      "app/close": () => ({}),
      "app/request": () => ({ result: { resources: [] } }),
      "ask/check": ({ content }) => {
        const { seat, ...others } = content as Record<string, unknown>;
        const unknown = Object.keys(others).filter((name) => !["bags", "pin"].includes(name));
        const fits = typeof seat === "string" && seat.startsWith("3") && unknown.length === 0;
        return fits ? {} : { problems: [{ name: "seat", message: "no", keyword: "enum" }] };
      },
      "ask/list": () => ({ asks: [openAsk(1)] }),
    },
  );
  const panel = showApp(host);
  const card = await screen.findByRole("region", { name: "database asks" });
  return { ...panel, host, card };
}

/** Shows an app that is ready, and has been asked. */
async function ready(options: Options = {}, appCapabilities: object = { elicitation: {} }) {
  const panel = await show(options);
  const app = await connect(appCapabilities);
  return { ...panel, ...app };
}

async function connect(appCapabilities: object) {
  await screen.findByTitle(title);
  const app = frameOf(title);
  await app.post({ assentAppReady: true });
  await app.say({ id: 1, method: "ui/initialize", params: { appCapabilities } });
  await app.say({ method: "ui/notifications/initialized" });
  /** The requests that the app has got. */
  const asked = () =>
    app.heard.filter((it) => (it as { method?: string }).method === "elicitation/create") as {
      readonly id: string;
      readonly params: unknown;
    }[];
  const propose = async (content: unknown, more: object = {}) => {
    const id = asked().at(-1)?.id;
    await app.say({ id, result: { action: "accept", content, ...more } });
  };
  return { ...app, asked, propose };
}

const button = (name: string) => screen.getByRole("button", { name });
const submit = () => screen.queryByRole("button", { name: "Submit" });
const seat = () => screen.getByRole("textbox", { name: /^Seat/ });
const bags = () => screen.getByRole("textbox", { name: /^Bags/ });

describe("the app of a form", () => {
  test("gets the request, and nothing that the person typed", async () => {
    const { host, asked, heard, container } = await ready();
    expect(host.calls("app/open")).toEqual([{ taskId: "t1", messageId: 7 }]);
    expect(heard[0]).toMatchObject({ result: { hostCapabilities: { elicitation: {} } } });
    const { hostCapabilities } = (heard[0] as { result: { hostCapabilities: object } }).result;
    expect(Object.keys(hostCapabilities)).toEqual(["serverResources", "elicitation"]);
    await waitFor(() => expect(asked()).toHaveLength(1));
    expect(asked()[0]?.params).toEqual({
      mode: "form",
      message: "Which **seat**?",
      requestedSchema,
      _meta: { ui: { resourceUri: "ui://database/seats" }, free: ["3A"] },
    });
    expect(submit()).toBeNull();
    button("Decline");
    expect(await axeFindings(container)).toEqual([]);
  });

  test("fills in the plain form, which the person submits", async () => {
    const { host, asked, propose, container } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    await propose({ seat: "3A", bags: 2 });
    await screen.findByText("Filled in by database's app. Check it before you submit.");
    expect(screen.queryByRole("heading", { name: title })).toBeNull();
    expect([valueIn(seat()), valueIn(bags())]).toEqual(["3A", "2"]);
    await host.caughtUp();
    expect(host.calls("askResponse")).toEqual([]);
    await waitFor(() =>
      expect(host.calls("ask/draft").at(-1)).toMatchObject({ draft: { seat: "3A", bags: "2" } }),
    );
    expect(await axeFindings(container)).toEqual([]);
    fireEvent.click(button("Submit"));
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([
        {
          taskId: "t1",
          askId: "a1",
          askResponse: "yesButtonClicked",
          elicitationContent: { seat: "3A", bags: 2 },
        },
      ]),
    );
  });

  test("leaves a secret that it fills in out of drafts", async () => {
    const { host, asked, propose } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    await propose({ seat: "3A", pin: "hunter2" });
    await screen.findByText(/^Filled in by/);
    await waitFor(() =>
      expect(host.calls("ask/draft").at(-1)).toMatchObject({ draft: { seat: "3A" } }),
    );
    expect(JSON.stringify(host.calls("ask/draft"))).not.toContain("hunter2");
    fireEvent.click(button("Submit"));
    await waitFor(() =>
      expect(host.calls("askResponse")[0]).toMatchObject({
        elicitationContent: { seat: "3A", pin: "hunter2" },
      }),
    );
  });

  test("is one press away from the plain form, and back", async () => {
    const { asked, frame, propose } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    const plain = button("Use the Plain Form");
    fireEvent.click(plain);
    expect(plain.isConnected).toBe(false); // the press does not go on to submit
    expect(screen.queryByRole("heading", { name: title })).toBeNull();
    screen.getByText("database has an app for this form.");
    seat();
    button("Submit");
    fireEvent.click(button("Show the App"));
    expect(screen.getByTitle(title)).toBe(frame); // with all that the person did in it
    expect(submit()).toBeNull();
    expect(asked()).toHaveLength(1);
    await propose({ seat: "3A" });
    fireEvent.click(await screen.findByRole("button", { name: "Show the App" }));
    await waitFor(() => expect(asked()).toHaveLength(2));
    expect(asked()[1]?.id).not.toBe(asked()[0]?.id);
  });

  test("does not overwrite what the person typed without a press", async () => {
    const { asked, propose } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    fireEvent.click(button("Use the Plain Form"));
    fireEvent.change(seat(), { target: { value: "3B" } });
    await propose({ seat: "3A", bags: 1 });
    await screen.findByText("database's app has another answer than your form.");
    expect([valueIn(seat()), valueIn(bags())]).toEqual(["3B", ""]);
    fireEvent.click(button("Use the App's Answer"));
    expect([valueIn(seat()), valueIn(bags())]).toEqual(["3A", "1"]);
    screen.getByText(/^Filled in by/);
  });

  test("cannot put its answer under a click that was meant for something else", async () => {
    const { asked, propose } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    fireEvent.click(button("Use the Plain Form"));
    fireEvent.change(seat(), { target: { value: "3B" } });
    const pass = holdGuard();
    await propose({ seat: "3A" });
    fireEvent.click(await screen.findByRole("button", { name: "Use the App's Answer" }));
    expect(valueIn(seat())).toBe("3B");
    await pass();
    fireEvent.click(button("Use the App's Answer"));
    expect(valueIn(seat())).toBe("3A");
  });

  test("cannot put a field under a click that was meant for it", async () => {
    const { user, asked, propose } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    const pass = holdGuard();
    await propose({ seat: "3A" });
    await screen.findByText(/^Filled in by/);
    await expect(user.click(bags())).rejects.toThrow("pointer-events");
    await pass();
    await user.click(bags());
    expect(document.activeElement).toBe(bags());
  });

  test("leaves the focus in the question, and does not take it from elsewhere", async () => {
    const { card, asked, propose } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    button("Use the Plain Form").focus();
    fireEvent.click(button("Use the Plain Form"));
    expect(document.activeElement).toBe(card);
    fireEvent.change(seat(), { target: { value: "3B" } });
    await propose({ seat: "3A" });
    (await screen.findByRole("button", { name: "Use the App's Answer" })).focus();
    fireEvent.click(button("Use the App's Answer"));
    expect(document.activeElement).toBe(card);
    // The person writes elsewhere: in the panel, then in the editor.
    fireEvent.click(button("Show the App"));
    await waitFor(() => expect(asked()).toHaveLength(2));
    const message = screen.getByRole("textbox", { name: "Message" });
    message.focus();
    await propose({ seat: "3A" });
    await screen.findByText(/has another answer/);
    expect(document.activeElement).toBe(message);
    fireEvent.click(button("Show the App"));
    await waitFor(() => expect(asked()).toHaveLength(3));
    message.blur();
    vi.spyOn(document, "hasFocus").mockReturnValue(false);
    await propose({ seat: "3A" });
    await screen.findByText(/has another answer/);
    expect(document.activeElement).toBe(document.body);
    vi.restoreAllMocks();
  });

  test("is not shown before the person wants it if they had typed something", async () => {
    const { host } = await show({ draft: { seat: "3C" } });
    expect(valueIn(seat())).toBe("3C");
    button("Submit");
    await host.caughtUp();
    expect(host.calls("app/open")).toEqual([]);
    fireEvent.click(button("Show the App"));
    const { asked, propose } = await connect({ elicitation: {} });
    await waitFor(() => expect(asked()).toHaveLength(1));
    expect(JSON.stringify(asked()[0])).not.toContain("3C");
    await propose({ seat: "3A" });
    await screen.findByText(/has another answer/);
    expect(valueIn(seat())).toBe("3C");
  });

  test.each(["decline", "cancel"])("only suggests to %s", async (action) => {
    const { host, asked, propose } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    await propose(undefined, { action });
    await screen.findByText("database's app suggests that you decline. You decide.");
    button("Submit");
    button("Decline");
    await host.caughtUp();
    expect(host.calls("askResponse")).toEqual([]);
  });

  test("loads nothing before the person allows its addresses", async () => {
    const domains = ["https://a.example.com"];
    const { host } = await show({
      open: ({ network }) => (network === undefined ? { asks: domains } : opened),
    });
    await screen.findByText("https://a.example.com");
    expect(screen.queryByTitle(title)).toBeNull();
    fireEvent.click(button("Show Without"));
    await screen.findByTitle(title);
    expect(host.calls("app/open")[1]).toMatchObject({ messageId: 7, network: "without" });
  });

  test("cannot submit by a press that was meant for it", async () => {
    const pass = holdGuard();
    const { host, asked, propose } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    const disabled = () => button("Submit").getAttribute("aria-disabled");
    fireEvent.click(button("Use the Plain Form"));
    await pass();
    expect(disabled()).toBe("false");
    fireEvent.click(button("Show the App"));
    await propose({ seat: "3A" });
    await screen.findByText(/^Filled in by/);
    expect(disabled()).toBe("true");
    fireEvent.click(button("Submit"));
    fireEvent.keyDown(seat(), { key: "Enter", ctrlKey: true });
    await pass();
    expect(disabled()).toBe("false");
    await host.caughtUp();
    expect(host.calls("askResponse")).toEqual([]);
  });

  test("ends with its question", async () => {
    const { host, asked, say } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    const id = asked()[0]?.id;
    await host.event({ type: "askSettled", messageId: 7, outcome: answered });
    await waitFor(() => expect(host.calls("app/close")).toEqual([{ taskId: "t1", appId: "app1" }]));
    const before = host.asked.length;
    await say({ id, result: { action: "accept", content: { seat: "3A" } } });
    await say({ id: 9, method: "resources/list" });
    await host.caughtUp();
    expect(host.asked.slice(before).map(({ method }) => method)).not.toContain("app/request");
    expect(host.calls("ask/check")).toEqual([]);
    expect(host.calls("askResponse")).toEqual([]);
  });
});

describe("an app that cannot fill in the form", () => {
  const failed = (words: string) => screen.findByText(`${words} Fill in the form yourself.`);

  test("because its page cannot be read", async () => {
    await show({
      open: () => {
        throw new ResponseError(-32107, "The app of database cannot be read: no such resource.");
      },
    });
    await failed("The app of database cannot be read: no such resource.");
    button("Submit");
  });

  test("because it does not know forms", async () => {
    await ready({}, {});
    await failed("The app cannot fill in a form.");
    expect(screen.queryByTitle(title)).toBeNull();
    button("Submit");
  });

  test("because it is silent", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    try {
      await show();
      await screen.findByTitle(title);
      const { post } = frameOf(title);
      await post({ assentAppReady: true });
      await act(async () => vi.advanceTimersByTime(waitLimitMs));
      screen.getByText("The app does not answer. Fill in the form yourself.");
      expect(screen.queryByTitle(title)).toBeNull();
    } finally {
      vi.useRealTimers();
    }
  });

  test("because it was stopped, and can be shown again", async () => {
    const { asked, post, host } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    await post({ assentAppStopped: "messages" });
    await failed("The app was stopped because it sent too many messages.");
    fireEvent.click(button("Show the App"));
    await screen.findByTitle(title);
    expect(host.calls("app/open")).toHaveLength(2);
  });

  test.each([
    ["breaks a rule", { seat: "9Z" }],
    ["has another field", { seat: "3A", admin: true }],
    ["is no object", "3A"],
    ["is a list", [{ seat: "3A" }]],
    ["is nested", { seat: { toString: "3A" } }],
    ["is for the prototype", JSON.parse('{"seat":"3A","__proto__":{"bags":9}}')],
    ["hides in the prototype", JSON.parse('{"__proto__":{"seat":"3A"}}')],
    ["is empty", {}],
  ])("because what it proposes %s", async (_, content) => {
    const { host, asked, propose } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    await propose(content);
    await failed("The app's answer does not fit the form.");
    expect([valueIn(seat()), valueIn(bags())]).toEqual(["", ""]);
    expect(isWrong(seat())).toBe(false);
    await host.caughtUp();
    expect(host.calls("askResponse")).toEqual([]);
    expect(Object.prototype).not.toHaveProperty("bags");
  });

  test.each([null, "accept", { action: "sure", content: { seat: "3A" } }, { content: {} }])(
    "because its result is %j",
    async (result) => {
      const { asked, say } = await ready();
      await waitFor(() => expect(asked()).toHaveLength(1));
      await say({ id: asked()[0]?.id, result });
      await failed("The app's answer does not fit the form.");
    },
  );

  test("because it answers with an error", async () => {
    const { asked, say } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    await say({ id: asked()[0]?.id, error: { code: -1, message: "<b>no</b>" } });
    await failed("The app failed.");
    button("Submit");
  });
});

describe("a hostile app of a form", () => {
  test("is heard once for each time that it is asked", async () => {
    const { host, asked, propose, say } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    await propose({ seat: "3A" });
    await screen.findByText(/^Filled in by/);
    const checks = host.calls("ask/check").length;
    for (let n = 0; n < 100; n++) await propose({ seat: `3${n}` });
    for (const id of ["assent-elicitation-2", "assent-elicitation-0", 1, null]) {
      await say({ id, result: { action: "accept", content: { seat: "3Z" } } });
    }
    await host.caughtUp();
    expect(host.calls("ask/check")).toHaveLength(checks);
    expect(valueIn(seat())).toBe("3A");
  });

  test("is heard under the id of the request alone", async () => {
    const { host, asked, propose, say } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    const first = asked()[0]?.id;
    const answer = { action: "accept", content: { seat: "3Z" } };
    for (const id of ["assent-elicitation-0", "assent-teardown", 1, null]) {
      await say({ id, result: answer });
    }
    await host.caughtUp();
    expect(host.calls("ask/check")).toEqual([]);
    await propose({ seat: "3A" });
    fireEvent.click(await screen.findByRole("button", { name: "Show the App" }));
    await waitFor(() => expect(asked()).toHaveLength(2));
    await say({ id: first, result: answer });
    await host.caughtUp();
    expect(host.calls("ask/check")).toHaveLength(1);
    expect(submit()).toBeNull();
  });

  test("cannot answer before it is asked", async () => {
    const { host } = await show();
    await screen.findByTitle(title);
    const { say, heard } = frameOf(title);
    for (const id of ["assent-elicitation-0", "assent-elicitation-1"]) {
      await say({ id, result: { action: "accept", content: { seat: "3A" } } });
    }
    await say({ id: 1, method: "resources/list" });
    await waitFor(() => expect(heard).toHaveLength(1));
    await host.caughtUp();
    expect(host.calls("ask/check")).toEqual([]);
    expect(submit()).toBeNull();
  });

  test("cannot submit", async () => {
    const { host, asked, say, card } = await ready();
    await waitFor(() => expect(asked()).toHaveLength(1));
    const methods = ["askResponse", "elicitation/create", "ui/message", "ui/open-link"];
    for (const [n, method] of methods.entries()) {
      await say({ id: 10 + n, method, params: { askId: "a1", askResponse: "yesButtonClicked" } });
    }
    // The sidecar refuses all of them.
    await waitFor(() => expect(host.calls("app/request")).toHaveLength(methods.length));
    expect(host.calls("askResponse")).toEqual([]);
    const form = card.closest("form");
    if (form === null) throw new Error("the card is in no form");
    fireEvent.submit(form);
    fireEvent.keyDown(card, { key: "Enter", ctrlKey: true });
    await host.caughtUp();
    expect(host.calls("askResponse")).toEqual([]);
    expect(host.calls("ask/check")).toEqual([]);
    expect(within(card).queryByText("Fix 1 field:")).toBeNull();
  });
});
