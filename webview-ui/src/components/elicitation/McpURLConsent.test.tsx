import { type AskResponseParams, ErrorCode, type Outcome } from "@assent/protocol";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { descriptionOf } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import { dismiss } from "../../testing/menu.ts";
import { answered, ask, at, message, task, urlElicitation } from "../../testing/samples.ts";
import { McpURLConsent, type McpURLConsentProps } from "./McpURLConsent.tsx";

// The half second before an ask can be answered has a test of its own; here it is over at once, in
// each phase.
const armed = vi.hoisted(() => ({ phases: new Set<string>(["asked", "waiting"]) }));
vi.mock("../ask/useClickGuard.ts", () => ({
  useClickGuard: (phase: string) => armed.phases.has(phase),
}));

const url = "https://login.example.com/device?code=42";

describe("the card", () => {
  type Data = Omit<
    McpURLConsentProps,
    "onOpen" | "onDone" | "onDecline" | "onDeclineAll" | "onCancel"
  >;

  function show(part: Partial<Data> = {}) {
    const ways = {
      onOpen: vi.fn<() => void>(),
      onDone: vi.fn<() => void>(),
      onDecline: vi.fn<() => void>(),
      onDeclineAll: vi.fn<() => void>(),
      onCancel: vi.fn<() => void>(),
    };
    const drawn = render(
      <McpURLConsent
        askId="a1"
        serverName="database"
        toolNames={["cleanup"]}
        message="**Sign in** to go on."
        url={url}
        waiting={false}
        opening={false}
        busy={false}
        refusal={undefined}
        {...part}
        {...ways}
      />,
    );
    return { ...ways, ...drawn, user: userEvent.setup() };
  }

  test("shows who asks and the whole URL as text, with its domain standing out", async () => {
    const { container } = show();
    screen.getByRole("region", { name: "database wants you to open a page" });
    screen.getByText("during the tool call cleanup");
    screen.getByRole("heading", { name: "Sign in to go on." });
    const domain = screen.getByText("example.com");
    expect(domain.tagName).toBe("STRONG");
    expect(domain.parentElement?.textContent).toBe(url);
    expect(screen.queryByRole("link")).toBeNull();
    expect(container.querySelector("[href], [src]")).toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  });

  test("says what to beware of, and says it of the button too", async () => {
    const { container } = show({ url: "http://xn--pple-43d.com:8080/" });
    const open = screen.getByRole("button", { name: "Open in Browser" });
    for (const words of [/mixes alphabets/, /not encrypted/, /port 8080/]) {
      screen.getByText(words);
      expect(descriptionOf(open)).toMatch(words);
    }
    expect(await axeFindings(container)).toEqual([]);
  });

  test.each(["javascript:alert(1)", "https://bank.example@evil.example/"])(
    "cannot open %s, and can still be declined",
    async (bad) => {
      const { onOpen, onDecline, user } = show({ url: bad });
      screen.getByText(bad);
      screen.getByRole("alert");
      for (const name of ["Open in Browser", "Copy URL"]) {
        expect(screen.queryByRole("button", { name })).toBeNull();
      }
      await user.click(screen.getByRole("button", { name: "Decline" }));
      expect(onDecline).toHaveBeenCalledOnce();
      expect(onOpen).not.toHaveBeenCalled();
    },
  );

  test("names each outcome", async () => {
    const { onOpen, onDecline, onCancel, user } = show();
    await user.click(screen.getByRole("button", { name: "Open in Browser" }));
    expect(onOpen).toHaveBeenCalledOnce();
    await user.click(screen.getByRole("button", { name: "Decline" }));
    expect(onDecline).toHaveBeenCalledOnce();
    dismiss();
    await user.keyboard("{Escape}");
    expect(onCancel).toHaveBeenCalledTimes(1);
  });

  test("copies the URL", async () => {
    const { user } = show({ url: "https://example.com/ä" });
    await user.click(screen.getByRole("button", { name: "Copy URL" }));
    await screen.findByText("Copied.");
    expect(await navigator.clipboard.readText()).toBe("https://example.com/%C3%A4");
  });

  test("that waits is done, opened again, or given up, which is not to decline", async () => {
    const { onOpen, onDone, onCancel, onDecline, container, user } = show({ waiting: true });
    expect(screen.getByText(/Waiting for you to finish at/).textContent).toBe(
      "Waiting for you to finish at example.com.",
    );
    await user.click(screen.getByRole("button", { name: "Done" }));
    expect(onDone).toHaveBeenCalledOnce();
    await user.click(screen.getByRole("button", { name: "Open Again" }));
    expect(onOpen).toHaveBeenCalledOnce();
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    expect(onCancel).toHaveBeenCalledOnce();
    expect(screen.queryByRole("button", { name: "Decline" })).toBeNull();
    expect(onDecline).not.toHaveBeenCalled();
    expect(await axeFindings(container)).toEqual([]);
  });

  test.each([
    ["busy", { busy: true }, ["asked"]],
    ["not armed", {}, []],
    ["not armed anew since it waits", { waiting: true }, ["asked"]],
  ] as const)("does nothing while it is %s", async (_name, part, phases) => {
    armed.phases = new Set(phases);
    try {
      const { onOpen, onDone, onDecline, onCancel, user } = show(part);
      for (const name of ["Open in Browser", "Open Again", "Done", "Decline", "Cancel"]) {
        const button = screen.queryByRole("button", { name });
        if (button !== null) await user.click(button);
      }
      await user.keyboard("{Escape}");
      for (const way of [onOpen, onDone, onDecline, onCancel]) expect(way).not.toHaveBeenCalled();
    } finally {
      armed.phases = new Set(["asked", "waiting"]);
    }
  });
});

describe("in the panel, a page", () => {
  const waiting = task({ openAsks: 1 });
  const page = (awaitsCompletion = false) =>
    message(1, ask("u1", urlElicitation(awaitsCompletion ? { awaitsCompletion } : {})));
  const openButton = () => screen.findByRole("button", { name: "Open in Browser" });

  test("is opened once, which is the answer", async () => {
    let opened = () => {};
    const host = new FakeHost(waiting, [page()], {
      "ask/openUrl": async () => {
        await new Promise<void>((resolve) => {
          opened = resolve;
        });
        return { opened: true };
      },
    });
    const { user } = showApp(host);
    await user.dblClick(await openButton());
    await screen.findByText("Opening the page…");
    await waitFor(() => expect(host.calls("ask/openUrl")).toEqual([{ taskId: "t1", askId: "u1" }]));
    await user.click(screen.getByRole("button", { name: "Decline" }));
    opened();
    await waitFor(() => expect(screen.queryByText("Opening the page…")).toBeNull());
    await host.event(
      {
        type: "askSettled",
        messageId: 1,
        outcome: answered,
        elicitationResponse: { action: "accept" },
      },
      0,
    );
    await screen.findByText("You opened login.example.com");
    expect(screen.queryByText(/^The server reported/)).toBeNull();
    await host.event({ type: "askCompleted", messageId: 1, completedAt: at + 60_000 }, 0);
    await screen.findByText(/^The server reported completion/);
    expect(host.calls("askResponse")).toEqual([]);
    expect(host.calls("ask/openUrl")).toHaveLength(1);
  });

  test("waits for the end that the server reports, also after a reload", async () => {
    const handlers = { "ask/openUrl": () => ({ opened: true }) };
    const first = showApp(new FakeHost(waiting, [page(true)], handlers));
    const open = await openButton();
    await first.user.click(open);
    await screen.findByText(/Waiting for you to finish at/);
    // The button that was pressed has become the other one, and has the focus still.
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Open Again" }));
    first.unmount();

    const host = new FakeHost(waiting, [page(true)], handlers);
    const second = showApp(host, first.storage);
    await second.user.click(await screen.findByRole("button", { name: "Done" }));
    const answer: AskResponseParams = {
      taskId: "t1",
      askId: "u1",
      askResponse: "yesButtonClicked",
    };
    await waitFor(() => expect(host.calls("askResponse")).toEqual([answer]));
    expect(host.calls("ask/openUrl")).toEqual([]);
    await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 0);
    await screen.findByText("You opened login.example.com and marked it as done");
    expect(second.view.draft("u1")).toBeUndefined();
  });

  test("that was not opened can be opened again", async () => {
    const host = new FakeHost(waiting, [page(true)], { "ask/openUrl": () => ({ opened: false }) });
    const { user } = showApp(host);
    await user.click(await openButton());
    expect((await screen.findByRole("alert")).textContent).toBe("The page was not opened.");
    expect((await openButton()).getAttribute("aria-disabled")).toBe("false");
    expect(screen.queryByText(/Waiting for you to/)).toBeNull();
  });

  test("that another window answered first is read again", async () => {
    const host = new FakeHost(waiting, [page()], {
      "ask/openUrl": () => {
        const outcome: Outcome = { reason: "declined", by: "terminal", at };
        host.messages = [message(1, ask("u1", urlElicitation(), outcome))];
        throw new ResponseError(ErrorCode.AskSettled, "It was declined in the terminal.", outcome);
      },
    });
    const { user } = showApp(host);
    await user.click(await openButton());
    await user.click(await screen.findByText("You declined to open login.example.com"));
    await screen.findByText(/^Answered in terminal at/);
  });

  test.each<readonly [Outcome["reason"], string]>([
    ["answered", "You opened login.example.com and marked it as done"],
    ["declined", "You declined to open login.example.com"],
    ["dismissed", "You dismissed it without an answer: login.example.com"],
    ["completed", "The server reported completion: login.example.com"],
    ["serverStoppedWaiting", "The server stopped waiting: login.example.com"],
    ["serverLost", "The connection to the server was lost: login.example.com"],
    ["restarted", "Assent stopped while this was open: login.example.com"],
  ])("that is settled says what became of it: %s", async (reason, words) => {
    const question = urlElicitation({ awaitsCompletion: true });
    const host = new FakeHost(task(), [message(1, ask("u1", question, { reason, at }))]);
    const { user, container } = showApp(host);
    await user.click(await screen.findByText(words));
    const domain = await screen.findByText("example.com");
    expect(domain.parentElement?.textContent).toBe(url);
    expect(screen.queryByRole("link")).toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  });
});
