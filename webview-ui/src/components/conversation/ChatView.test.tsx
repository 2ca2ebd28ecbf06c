import type { Body, Call, ContentBlock, Message, ModelEndReason } from "@assent/protocol";
import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createRef } from "react";
import { describe, expect, test, vi } from "vitest";
import type { Conversation } from "../../store/openTask.ts";
import type { Actions } from "../../store/session.ts";
import { axeFindings } from "../../testing/axe.ts";
import { type Layout, layOut, panelHeight, rowHeight } from "../../testing/layout.ts";
import { ask, call, elicitation, message, task } from "../../testing/samples.ts";
import { ViewContext } from "../../view/ViewContext.ts";
import { type Place, ViewStateStore } from "../../view/viewState.ts";
import { type ChatHandle, ChatView } from "./ChatView.tsx";

// Above the first row, above it if there are earlier ones, and below the last.
const [above, aboveEarlier, below] = [4, 40, 12] as const;

function notices(first: number, last: number): readonly Message[] {
  return Array.from({ length: last - first + 1 }, (_, n) =>
    message(first + n, { type: "notice", level: "info", text: `message ${first + n}` }),
  );
}

/** Where the list is scrolled to when it shows the end of so many rows. */
function endOf(rows: number): number {
  return above + rows * rowHeight + below - panelHeight;
}

function show(
  layout: Layout,
  messages: readonly Message[],
  more: Partial<Conversation> = {},
  place?: Place,
) {
  const loadEarlier = vi.fn<Actions["loadEarlier"]>();
  const forgetEarlier = vi.fn<Actions["forgetEarlier"]>();
  const cancelCall = vi.fn<Actions["cancelCall"]>(async () => true);
  const onShowAsk = vi.fn<(askId: string) => void>();
  const mocks = { loadEarlier, forgetEarlier, cancelCall };
  const actions = { ...mocks, saveDraft: () => {} } as unknown as Actions;
  const view = new ViewStateStore({ load: () => ({ place }), save: () => {} });
  const ref = createRef<ChatHandle>();
  const draw = (now: readonly Message[], changes: Partial<Conversation>) => {
    const conversation: Conversation = {
      ...{ taskId: "t1", task: task(), messages: now, earlier: false, lastNumber: 1 },
      ...{ behind: undefined, paging: false, buffered: [], failure: undefined, ...changes },
    };
    return (
      <ViewContext value={view}>
        <ChatView {...{ conversation, actions, ref, onShowAsk }} />
      </ViewContext>
    );
  };
  const { rerender, container } = render(draw(messages, more));
  const list = screen.getByRole("region", { name: "Conversation" });
  layout.settle(list);
  return {
    ...{ ...mocks, onShowAsk, view, ref, container, list },
    change(now: readonly Message[], changes = more) {
      rerender(draw(now, changes));
      layout.settle(list);
    },
  };
}

test("a model's message that ended for an unknown reason is drawn, and can be tried again", () => {
  const end = { reason: "tooTired" as ModelEndReason, at: 1 };
  show(layOut(), [message(1, { type: "model", text: "Hm", end })]);
  expect(within(rowOf(1)).getByText("It ended early.")).toBeDefined();
  expect(within(rowOf(1)).getByRole("button", { name: "Retry" })).toBeDefined();
});

/** The ids of the messages that are drawn. */
function drawn(): readonly number[] {
  return rows().map((row) => Number(row.getAttribute("aria-posinset")));
}

function rows(): readonly HTMLElement[] {
  return within(screen.getByRole("list", { name: "Messages" })).getAllByRole("listitem");
}

function rowOf(id: number): HTMLElement {
  return rows().find((row) => row.ariaPosInSet === String(id)) ?? expect.fail(`no row of ${id}`);
}

const question = (id: number) => message(id, ask(`a${id}`, elicitation()));

describe("the place", () => {
  test("is at the newest message, and follows it", () => {
    const layout = layOut();
    const { list, change } = show(layout, notices(1, 20));
    expect(list.scrollTop).toBe(endOf(20));
    change(notices(1, 21));
    expect(list.scrollTop).toBe(endOf(21));
    change(notices(1, 30));
    expect(list.scrollTop).toBe(endOf(30));
  });

  test("of a message taller than the panel is its beginning, and stays there", () => {
    const layout = layOut((row) => (row.textContent === "message 21" ? 400 : rowHeight));
    const { list, change } = show(layout, notices(1, 20));
    change(notices(1, 21));
    expect(list.scrollTop).toBe(above + 20 * rowHeight);
    change(notices(1, 22));
    expect(list.scrollTop).toBe(above + 20 * rowHeight);
  });

  test("follows a message that grows", () => {
    const layout = layOut();
    const { list, change } = show(layout, notices(1, 20));
    change([...notices(1, 20)]);
    layout.resize(rowOf(20), rowHeight + 80);
    expect(list.scrollTop).toBe(endOf(20) + 80);
  });

  test("is still the newest message when the panel gets lower, by however little", () => {
    const layout = layOut();
    const { list } = show(layout, notices(1, 20));
    for (const less of [3, 6, 100]) {
      layout.resizePanel(panelHeight - less);
      expect(list.scrollTop).toBe(endOf(20) + less);
      layout.settle(list);
    }
  });

  test("is still the newest message when the panel gets higher and at once much lower", () => {
    const layout = layOut();
    const { list } = show(layout, notices(1, 20));
    layout.resizePanel(panelHeight + 10, panelHeight - 100);
    expect(list.scrollTop).toBe(endOf(20) + 100);
    layout.settle(list);
    expect(list.scrollTop).toBe(endOf(20) + 100);
  });

  test("is left where the person scrolled to, until they come back down", () => {
    const layout = layOut();
    const { list, view, change } = show(layout, notices(1, 20));
    layout.scroll(list, above + rowHeight + 16);
    expect(view.get().place).toEqual({ messageId: 2, offset: 16 });
    change(notices(1, 21));
    expect(list.scrollTop).toBe(above + rowHeight + 16);
    layout.scroll(list, endOf(21));
    expect(view.get().place).toBeUndefined();
    change(notices(1, 22));
    expect(list.scrollTop).toBe(endOf(22));
  });

  test("is not moved away under what the person opens", () => {
    const layout = layOut();
    const { list } = show(layout, [...notices(1, 20), message(21, call())]);
    layout.resize(rowOf(21), rowHeight + 10);
    expect(list.scrollTop).toBe(endOf(21) + 10);
    fireEvent.pointerDown(screen.getByRole("button", { name: "Cancel" }));
    layout.resize(rowOf(21), 300);
    expect(list.scrollTop).toBe(endOf(21) + 10);
  });

  test("is restored after a reload, with rows of any height", () => {
    const layout = layOut(() => 70);
    const { list, change } = show(layout, notices(1, 20), {}, { messageId: 3, offset: 10 });
    expect(list.scrollTop).toBe(above + 2 * 70 + 10);
    change(notices(1, 21));
    expect(list.scrollTop).toBe(above + 2 * 70 + 10);
  });

  test("stays when older messages come above", () => {
    const layout = layOut();
    const { list, change } = show(layout, notices(300, 500), { earlier: true });
    layout.scroll(list, aboveEarlier + 150);
    change(notices(100, 500), { earlier: false });
    const first = Number.parseFloat(rowOf(301).style.top);
    expect(list.scrollTop).toBe(first + 150 - rowHeight);
  });

  test("is moved by the keyboard", () => {
    const layout = layOut();
    const { list } = show(layout, notices(1, 100));
    list.focus();
    fireEvent.keyDown(list, { key: "PageUp" });
    expect(list.scrollTop).toBe(endOf(100) - panelHeight + 60);
    fireEvent.keyDown(list, { key: "PageDown" });
    expect(list.scrollTop).toBe(endOf(100));
    fireEvent.keyDown(list, { key: "Home" });
    expect(list.scrollTop).toBe(0);
    layout.settle(list);
    expect(drawn()[0]).toBe(1);
    fireEvent.keyDown(list, { key: "End" });
    expect(list.scrollTop).toBe(endOf(100));
  });
});

describe("the rows", () => {
  test("that are drawn are few, and know their place among all", async () => {
    const layout = layOut();
    const { list, container } = show(layout, notices(99_001, 100_000), { earlier: true });
    expect(drawn()).toContain(100_000);
    expect(drawn().length).toBeLessThan(30);
    layout.scroll(list, 10_000);
    expect(drawn()).not.toContain(100_000);
    expect(drawn().length).toBeLessThan(30);
    expect(new Set(rows().map((row) => row.ariaSetSize))).toEqual(new Set(["100000"]));
    expect(await axeFindings(container)).toEqual([]);
  });

  test("keep the focus while the list scrolls and others take it for a while", async () => {
    const layout = layOut();
    const withCall = [...notices(1, 400), message(401, call())];
    const { list } = show(layout, withCall);
    const button = screen.getByRole("button", { name: "Cancel" });
    act(() => button.focus());
    act(() => button.blur());
    layout.scroll(list, 0);
    expect(button.isConnected).toBe(true);
    expect(drawn().at(-1)).toBe(401);
  });

  test("that are out of sight are drawn, scrolled to and focused when they are asked for", () => {
    const layout = layOut();
    const { list, ref, onShowAsk } = show(layout, [
      ...[message(1, call()), question(2)],
      ...notices(3, 300),
    ]);
    expect(drawn()).not.toContain(1);
    act(() => ref.current?.show(1));
    layout.settle(list);
    const row = rowOf(1);
    expect(row.contains(document.activeElement)).toBe(true);
    expect(list.scrollTop).toBe(0);
    layout.scroll(list, endOf(300));
    act(() => ref.current?.showAsk("a2"));
    layout.settle(list);
    expect(onShowAsk).toHaveBeenCalledExactlyOnceWith("a2");
    expect(Number.parseFloat(rowOf(2).style.top)).toBeGreaterThanOrEqual(list.scrollTop);
  });
});

describe("earlier messages", () => {
  test("are asked for when the first one that is here comes near, once", () => {
    const layout = layOut();
    const { list, loadEarlier, change } = show(layout, notices(501, 700), { earlier: true });
    expect(loadEarlier).not.toHaveBeenCalled();
    layout.scroll(list, 1000);
    expect(loadEarlier.mock.calls).toEqual([[undefined]]);
    change(notices(501, 700), { earlier: true, paging: true });
    expect(screen.getByRole("button", { name: "Loading earlier messages…" })).toBeDefined();
    // The page did not come: only the person asks for it again.
    change(notices(501, 700), { earlier: true });
    layout.scroll(list, 900);
    expect(loadEarlier).toHaveBeenCalledTimes(1);
    fireEvent.click(screen.getByRole("button", { name: "Show earlier messages" }));
    expect(loadEarlier).toHaveBeenCalledTimes(2);
  });

  test("are read as far back as the view was in an earlier life", () => {
    const layout = layOut();
    const place = { messageId: 120, offset: 10 };
    const { list, loadEarlier, change } = show(layout, notices(501, 700), { earlier: true }, place);
    expect(loadEarlier.mock.calls).toEqual([[120]]);
    change(notices(70, 700), { earlier: true });
    expect(list.scrollTop).toBe(Number.parseFloat(rowOf(120).style.top) + 10);
    expect(loadEarlier).toHaveBeenCalledTimes(1);
  });

  test("are dropped at the newest message, except those that must stay rendered", () => {
    const layout = layOut();
    const { list, forgetEarlier, change } = show(layout, notices(1, 1000));
    expect(forgetEarlier).not.toHaveBeenCalled();
    change(notices(1, 1001));
    expect(forgetEarlier).toHaveBeenLastCalledWith(602);
    const asking = [...notices(1, 299), question(300), ...notices(301, 1001)];
    change(asking);
    expect(forgetEarlier).toHaveBeenLastCalledWith(300);
    forgetEarlier.mockClear();
    layout.scroll(list, 500);
    change([...asking, ...notices(1002, 1003)]);
    expect(forgetEarlier).not.toHaveBeenCalled();
  });
});

describe("a message that cannot be drawn", () => {
  /** Messages of shapes that no row expects. */
  const unknown = { type: "hologram" };
  const undrawn: Readonly<Record<string, Body>> = {
    "of an unknown kind": unknown as unknown as Body,
    "a call of an unknown kind": call({ request: unknown as unknown as Call["request"] }),
    "a result whose blocks are no list": call({
      result: { type: "result", content: { length: 1 } as unknown as readonly ContentBlock[] },
    }),
    "a result that is nested too deeply": call({
      result: { type: "result", structuredContent: nested(20_000) },
    }),
  };

  function nested(levels: number): unknown {
    return JSON.parse("[".repeat(levels) + "]".repeat(levels));
  }

  function showBetween(body: Body) {
    // React tells of each error that a boundary takes.
    vi.spyOn(console, "error").mockImplementation(() => {});
    const others = [...notices(1, 1), ...notices(3, 3)];
    const [before, after] = others;
    const messages = [before, message(2, body), after].filter((each) => each !== undefined);
    return { ...show(layOut(), messages), others };
  }

  test.each(Object.entries(undrawn))("leaves the others as they are: %s", async (_name, body) => {
    const { container } = showBetween(body);
    expect(drawn()).toEqual([1, 2, 3]);
    screen.getByText("message 1");
    screen.getByText("message 3");
    screen.getByRole("article", { name: "This message cannot be shown" });
    expect(await axeFindings(container)).toEqual([]);
    await userEvent.click(screen.getByText("The Message as JSON"));
    const shown = within(rowOf(2)).getByRole("group");
    await waitFor(() =>
      expect(shown.textContent).toMatch(/"hologram"|"length": 1|Maximum call stack/),
    );
    await userEvent.click(screen.getByRole("button", { name: "Try Again" }));
    screen.getByRole("article", { name: "This message cannot be shown" });
    screen.getByText("message 3");
  });

  test("is drawn once it has become another", () => {
    const { change, others } = showBetween(
      call({ request: unknown as unknown as Call["request"] }),
    );
    change([...others.slice(0, 1), message(2, call()), ...others.slice(1)]);
    expect(screen.queryByText("This message cannot be shown")).toBeNull();
    screen.getByRole("article", { name: "cleanup of database" });
  });

  test("can be cancelled if it is a running call", async () => {
    const { cancelCall } = showBetween(call({ request: unknown as unknown as Call["request"] }));
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(cancelCall).toHaveBeenCalledExactlyOnceWith("t1", 2);
  });
});
