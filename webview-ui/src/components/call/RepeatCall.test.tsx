import type { AskResponse, Outcome, RepeatMcpCall } from "@assent/protocol";
import { screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { dismiss } from "../../testing/menu.ts";
import { answered, ask, at, message, openAsk, task } from "../../testing/samples.ts";

// The half second before an ask can be answered has a test of its own; here it is over at once.
vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

const question: RepeatMcpCall = {
  type: "repeat_mcp_call",
  serverName: "database",
  toolNames: ["cleanup"],
  messageId: 7,
  reason: "The tool failed because it wanted to ask you something.",
};
const waiting = task({ openAsks: 1 });
const asked = () => new FakeHost(waiting, [message(1, ask("r1", question))]);

test("a call that failed is made once more only if the person says so", async () => {
  const host = asked();
  const { user, container } = showApp(host);
  await screen.findByRole("region", { name: "Call database again?" });
  screen.getByText(/^during the tool call cleanup/);
  screen.getByText(question.reason);
  expect(await axeFindings(container)).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Call Again" }));
  await waitFor(() =>
    expect(host.calls("askResponse")).toEqual([
      { taskId: "t1", askId: "r1", askResponse: "yesButtonClicked" },
    ]),
  );
  await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 0);
  await screen.findByText("You called it again");
});

test.each<readonly [string, AskResponse]>([
  ["Decline", "noButtonClicked"],
  ["Dismiss without an answer", "cancelButtonClicked"],
])("a call that failed stays so: %s", async (name, askResponse) => {
  const host = asked();
  const { user } = showApp(host);
  const decline = await screen.findByRole("button", { name: "Decline" });
  if (name === "Decline") await user.click(decline);
  else dismiss();
  await waitFor(() =>
    expect(host.calls("askResponse")).toEqual([{ taskId: "t1", askId: "r1", askResponse }]),
  );
});

test.each<readonly [Outcome["reason"], string]>([
  ["declined", "You did not call it again"],
  ["dismissed", `You dismissed it without an answer: ${question.reason}`],
  ["restarted", `Assent stopped while this was open: ${question.reason}`],
])("what became of the question is said: %s", async (reason, words) => {
  showApp(new FakeHost(task(), [message(1, ask("r1", question, { reason, at }))]));
  await screen.findByText(words);
});

test("the question is among the open ones", async () => {
  const entry = openAsk(1, { wants: "repeat_mcp_call", text: question.reason });
  const host = new FakeHost(waiting, [message(1, ask("r1", question))], {
    "ask/list": () => ({ asks: [entry] }),
  });
  const { user } = showApp(host);
  await user.click(await screen.findByRole("button", { name: /open question/i }));
  const inbox = await screen.findByRole("region", { name: "Open questions" });
  await waitFor(() => expect(inbox.textContent).toContain("Call database again?"));
});
