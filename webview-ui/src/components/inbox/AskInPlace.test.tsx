import type { Field, OpenAsk } from "@assent/protocol";
import { ErrorCode } from "@assent/protocol";
import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { MemoryStorage, showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { isWrong } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import { answered, at, openAsk, task } from "../../testing/samples.ts";
import type { ViewState } from "../../view/viewState.ts";

const sure: Field = { type: "boolean", name: "sure", title: "I am sure" };
const who: Field = { type: "string", name: "who", title: "Who?", required: true };
const tool: Partial<OpenAsk> = { wants: "use_mcp_tool", text: 'count {"of":"users"}' };

/** The inbox with one question of a task that is not open. */
async function show(
  part: Partial<OpenAsk>,
  answer?: () => never,
  drafts: ViewState["drafts"] = {},
) {
  const first = task();
  const second = task({ id: "t2", title: "Second", openAsks: 1 });
  let asks = [openAsk(7, { taskId: "t2", title: "Second", simple: true, ...part })];
  const host = new FakeHost(first, [], {
    "task/list": () => ({ tasks: [first, second] }),
    "ask/list": () => ({ asks }),
    askResponse: () => {
      answer?.();
      asks = [];
      return { outcome: { reason: "answered", by: "VS Code", at } };
    },
  });
  const storage = new MemoryStorage();
  storage.saved = { drafts };
  const app = showApp(host, storage);
  await host.tell("host/reveal", { kind: "openAsks" });
  const inbox = within(await screen.findByRole("region", { name: "Open questions" }));
  await inbox.findByRole("button", { name: /database/ });
  return { ...app, host, inbox };
}

/** A click is taken once the question was in sight for a moment. */
async function armed(name: string): Promise<HTMLElement> {
  const button = await screen.findByRole("button", { name });
  await waitFor(() => expect(button.getAttribute("aria-disabled")).toBe("false"));
  return button;
}

const answersOf = (host: FakeHost) => host.calls("askResponse");

test("a form of one field is filled in within the list", async () => {
  const { user, host, inbox, container } = await show({ fields: [sure] });
  await user.click(inbox.getByRole("checkbox", { name: "I am sure" }));
  expect(await axeFindings(container)).toEqual([]);
  await user.click(await armed("Submit"));
  await waitFor(() =>
    expect(answersOf(host)).toEqual([
      {
        taskId: "t2",
        askId: "a7",
        askResponse: "yesButtonClicked",
        elicitationContent: { sure: true },
      },
    ]),
  );
  await waitFor(() =>
    expect(document.activeElement).toBe(screen.getByRole("heading", { name: "Open questions" })),
  );
  await host.tell("task/event", {
    taskId: "t2",
    number: task().lastNumber + 1,
    openAsks: 0,
    event: { type: "askSettled", messageId: 7, outcome: answered },
  });
  await inbox.findByText("No question waits for you.");
});

test("a field that must be filled in is, before anything is sent", async () => {
  const { user, host, inbox } = await show({ fields: [who] });
  await user.click(await armed("Submit"));
  const box = inbox.getByRole("textbox", { name: /^Who/ });
  await waitFor(() => expect(isWrong(box)).toBe(true));
  await host.caughtUp();
  expect(answersOf(host)).toEqual([]);
  await user.type(box, "Ada{Enter}");
  await waitFor(() =>
    expect(answersOf(host)).toMatchObject([{ elicitationContent: { who: "Ada" } }]),
  );
});

test("a call is allowed or declined within the list", async () => {
  const { user, host } = await show(tool);
  await user.click(await armed("Allow"));
  await waitFor(() =>
    expect(answersOf(host)).toEqual([
      { taskId: "t2", askId: "a7", askResponse: "yesButtonClicked" },
    ]),
  );
});

test("a no is a no", async () => {
  const { user, host } = await show(tool);
  await user.click(await armed("Decline"));
  await waitFor(() => expect(answersOf(host)).toMatchObject([{ askResponse: "noButtonClicked" }]));
});

test("a refused answer says why, and can be given again", async () => {
  const { user, inbox } = await show(tool, () => {
    throw new ResponseError(ErrorCode.AskSettled, "It was answered in another window.");
  });
  await user.click(await armed("Allow"));
  await inbox.findByText("It was answered in another window.");
  await armed("Allow");
});

test("a call with arguments that the person has begun to change is opened instead", async () => {
  const { inbox } = await show(tool, undefined, { a7: { arguments: '{"of":"logs"}' } });
  inbox.getByRole("button", { name: /Open$/ });
  expect(inbox.queryByRole("button", { name: "Allow" })).toBeNull();
});

test("a text typed in the list is stored as on the question's card", async () => {
  const { user, host, inbox, view } = await show({ fields: [who] });
  await user.type(inbox.getByRole("textbox", { name: /^Who/ }), "Ada");
  expect(view.draft("a7")).toEqual({ who: "Ada" });
  const kept = { taskId: "t2", askId: "a7", draft: { who: "Ada" } };
  await waitFor(() => expect(host.calls("ask/draft").at(-1)).toEqual(kept));
});

test("a list that is read again leaves a newer draft of the card alone", async () => {
  const { view, session } = await show({ fields: [who] });
  await armed("Submit");
  view.setDraft("a7", { who: "typed on the card" });
  const { entries } = session.getState().inbox;
  act(() => session.actions.listOpenAsks());
  await waitFor(() => expect(session.getState().inbox.entries).not.toBe(entries));
  expect(view.draft("a7")).toEqual({ who: "typed on the card" });
});

test("a question with more to see is opened instead", async () => {
  const { inbox } = await show({ simple: false });
  expect(inbox.queryByRole("button", { name: /^(Allow|Submit|Decline)$/ })).toBeNull();
  inbox.getByRole("button", { name: /database.*Open$/ });
});
