import type { Call, McpTask } from "@assent/protocol";
import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import type { Actions } from "../../store/session.ts";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { descriptionOf } from "../../testing/dom.ts";
import { entryOf } from "../../testing/entries.ts";
import { FakeHost } from "../../testing/host.ts";
import { ask, at, call, elicitation, mcpTask, message, task } from "../../testing/samples.ts";
import { armingMs } from "../ask/useClickGuard.ts";
import { ChatRow } from "../conversation/ChatRow.tsx";

const minute = 60_000;
const day = 24 * 60 * minute;

function row(part: Partial<McpTask>, rest: Partial<Call> = {}, cancelCall = vi.fn(), id = 1) {
  const actions = { cancelCall } as Partial<Actions> as Actions;
  const body = call({ task: mcpTask(part), ...rest });
  return <ChatRow taskId="t1" entry={entryOf(message(id, body))} actions={actions} />;
}

function clockAt(now: number) {
  vi.useFakeTimers({ now, toFake: ["setTimeout", "setInterval", "clearInterval", "Date"] });
}

describe("a call that is an MCP task", () => {
  test.each<readonly [string, Partial<McpTask>, string, readonly string[]]>([
    ["works", { statusMessage: "Step 2 of 5" }, "working 2 min 0 s", ["Step 2 of 5"]],
    [
      "needs input that nobody here was asked for",
      { status: "input_required" },
      "waiting for input 2 min 0 s",
      ["It waits for input."],
    ],
    [
      "is over but for its result",
      { status: "completed" },
      "completed, fetching the result 2 min 0 s",
      [],
    ],
    ["failed", { status: "failed" }, "failed, fetching the reason 2 min 0 s", []],
    ["is what no version of MCP knows", { status: "odd" as "working" }, "odd 2 min 0 s", []],
    [
      "is out of reach",
      { problem: "The connection was refused." },
      "working at the last update 2 min 0 s",
      ["The server does not respond: The connection was refused. Assent keeps trying."],
    ],
    [
      "hides something",
      { statusMessage: "all \u202egood", taskId: "\u200bx" },
      "working 2 min 0 s",
      ["all [U+202E]good"],
    ],
    [
      "says too much",
      { statusMessage: "x".repeat(5000) },
      "working 2 min 0 s",
      [`${"x".repeat(300)}…`],
    ],
  ])("and %s says so", async (_name, part, state, texts) => {
    clockAt(at + 1 + 2 * minute);
    const { container } = render(row(part));
    screen.getByRole("article", { name: "cleanup of database" });
    screen.getByText(state);
    for (const text of texts) {
      const found = [...container.querySelectorAll("p")].map((p) => p.textContent);
      expect(found).toContain(text);
    }
    vi.useRealTimers();
    expect(await axeFindings(container)).toEqual([]);
  });

  test.each<readonly [string, number | undefined, RegExp]>([
    ["does not, where the server does not say", undefined, /^ID: 786512e2$/],
    ["later", at + 5 * minute, /The server may delete it after .*\d/],
    ["long ago", at - day, /The server may have deleted it after .*\d/],
    ["at a time that there is not", 1e300, /^ID: 786512e2(?!.)/],
  ])("expires %s", (_name, expiresAt, words) => {
    clockAt(at);
    const { container } = render(
      // An opened part of a row stays open, so each row here has a message of its own.
      row(expiresAt === undefined ? {} : { expiresAt }, {}, undefined, 100 + words.source.length),
    );
    expect(container.textContent).not.toContain("786512e2"); // no person reads it
    const details = screen.getByText("MCP task").closest("details");
    if (details !== null) details.open = true;
    fireEvent(details ?? container, new Event("toggle"));
    const about = container.querySelector(".mcp-task .disclosure-body");
    expect(about?.textContent).toMatch(words);
  });

  test("goes on for days, and never for less than nothing", () => {
    clockAt(at + 1 + 3 * day + 5 * 60 * minute);
    const { unmount } = render(row({}));
    screen.getByText("working 3 d 5 h");
    unmount();
    // The clock was put back since the call was made.
    vi.setSystemTime(at - day);
    render(row({}));
    screen.getByText("working 0 s");
  });

  test("shows how far it is, where the server says that too", () => {
    render(row({}, { progress: { progress: 3, total: 12, at } }));
    screen.getByRole("progressbar", { name: "cleanup of database" });
  });

  test("that ended keeps the server's last words, and says nothing of the end to come", () => {
    const part = { status: "cancelled", statusMessage: "Stopped at row 7", expiresAt: at } as const;
    const { container } = render(
      row({ ...part, cancelling: true }, { endedAt: at + 500, result: { type: "cancelled" } }),
    );
    screen.getByText("Stopped at row 7");
    expect(container.textContent).not.toMatch(/delete|Waiting for the server to cancel/);
    expect(screen.queryByRole("button", { name: /Cancel|Give Up/ })).toBeNull();
  });
});

describe("an MCP task is cancelled", () => {
  const cancelling = { cancelling: true };

  test("by asking the server once, and shows that it was asked", async () => {
    const cancelCall = vi.fn(async () => true);
    const { rerender, container } = render(row({}, {}, cancelCall));
    const button = screen.getByRole("button", { name: "Cancel" });
    await act(async () => {
      fireEvent.click(button);
      fireEvent.click(button);
    });
    fireEvent.click(button);
    expect(cancelCall).toHaveBeenCalledExactlyOnceWith("t1", 1);
    // The server has not said so yet: nothing pretends that it has.
    screen.getByText(/^working /);

    rerender(row(cancelling, {}, cancelCall));
    screen.getByText(/^cancelling /);
    const giveUp = screen.getByRole("button", { name: "Give Up" });
    expect(descriptionOf(giveUp)).toBe(
      "Waiting for the server to cancel. Give Up stops waiting; the server may go on.",
    );
    expect(await axeFindings(container)).toEqual([]);
  });

  test("and given up only by a press that was meant", async () => {
    vi.useFakeTimers();
    const cancelCall = vi.fn(async () => true);
    const { rerender } = render(row({}, {}, cancelCall));
    rerender(row(cancelling, {}, cancelCall));
    const button = screen.getByRole("button", { name: "Give Up" });
    fireEvent.click(button);
    act(() => vi.advanceTimersByTime(armingMs - 1));
    fireEvent.click(button);
    expect(cancelCall).not.toHaveBeenCalled();
    act(() => vi.advanceTimersByTime(1));
    expect(fireEvent.keyDown(button, { key: "Enter", repeat: true })).toBe(false);
    await act(async () => fireEvent.click(button));
    fireEvent.click(button);
    expect(cancelCall).toHaveBeenCalledOnce();
  });

  test("once more where it could not be asked", async () => {
    const cancelCall = vi.fn(async () => false);
    render(row({}, {}, cancelCall));
    const button = screen.getByRole("button", { name: "Cancel" });
    await act(async () => fireEvent.click(button));
    await act(async () => fireEvent.click(button));
    expect(cancelCall).toHaveBeenCalledTimes(2);
  });

  test("unless the server ended it first, which it says", () => {
    render(row({ ...cancelling, status: "completed" }));
    screen.getByText(/^completed, fetching the result /);
    expect(screen.queryByText(/Waiting for the server to cancel/)).toBeNull();
    screen.getByRole("button", { name: "Cancel" });
  });
});

test("an MCP task that waits for the person has its question beside it", async () => {
  const running = call({ task: mcpTask() });
  const host = new FakeHost(task({ openAsks: 1 }), [
    message(1, running),
    message(2, ask("other", elicitation(undefined, { serverName: "mail", messageId: 7 }))),
    message(3, ask("a1", elicitation(undefined, { messageId: 1 }))),
  ]);
  const { user } = showApp(host);
  await screen.findByText("MCP task", { exact: false });
  await host.event({
    type: "callTaskChanged",
    messageId: 1,
    task: mcpTask({ status: "input_required" }),
  });
  const row = await screen.findByRole("article", { name: "cleanup of database" });
  expect(within(row).queryByText("It waits for input.")).toBeNull();
  await user.click(within(row).getByRole("button", { name: /database asks$/ }));
  await waitFor(() =>
    expect(document.activeElement).toBe(screen.getByRole("region", { name: "database asks" })),
  );
  await host.event({ type: "askSettled", messageId: 3, outcome: { reason: "completed", at } }, 0);
  await waitFor(() => screen.getByText("It waits for input."));
});
