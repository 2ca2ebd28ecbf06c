import type { Ask, AskResponseParams, Outcome } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseWay } from "../../testing/menu.ts";
import {
  answered,
  ask,
  at,
  elicitation,
  message,
  openAsk,
  permission,
  task,
} from "../../testing/samples.ts";

// The half second before an ask can be answered has a test of its own; here it is over at once.
vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

const question = permission({
  command: "git push",
  claim: "Look around",
  agent: "tester",
  askFirst: "Your rule says to ask before git push.",
  declineMeans: "A no refuses all.",
  input: '{"command":"git push","description":"Look around","timeout":9007199254740993}',
});
const waiting = task({ openAsks: 1 });
const asked = (one: Ask["question"] = question) =>
  new FakeHost(waiting, [message(1, { ...ask("p1", one), ask: "host_permission" })]);
const card = (name: string) => screen.findByRole("region", { name });

test("the command comes first, then all else in the input, the folder and the model's claim", async () => {
  const { container } = showApp(asked());
  const { textContent } = await card("Claude Code wants to run a command");
  const places = [
    "git push",
    '"timeout": 9007199254740993',
    "Your rule says to ask before git push.",
    "In /home/ada/shop",
    "A sub-agent asks: tester",
    "The model says about it: Look around",
    "A no refuses all.",
    "Claude Code asks in its terminal, too",
  ].map((text) => textContent.indexOf(text));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
  expect(textContent).not.toContain("no longer configured"); // no server asks
  expect(await axeFindings(container)).toEqual([]);
});

test("hidden characters of a command, a rule and a folder are named", async () => {
  const odd = "a\u202eb";
  showApp(
    asked(
      permission({
        command: odd,
        folder: odd,
        options: [
          { id: "once", name: "Allow", means: "Once.", scope: "once" },
          { id: "more", name: odd, means: odd, scope: "session" },
        ],
      }),
    ),
  );
  const shown = await card("Claude Code wants to run a command");
  within(shown).getByRole("button", { name: "More Ways to Allow" }).click();
  await screen.findByRole("menuitem", { name: /a\[U\+202E\]b/ });
  expect(shown.textContent).not.toContain("\u202e");
  expect(shown.textContent.split("a[U+202E]b").length).toBeGreaterThan(4);
});

test.each<readonly [string, Partial<AskResponseParams>]>([
  ["Allow Once", { askResponse: "yesButtonClicked", permission: { optionId: "once" } }],
  [
    "Allow, and do not ask again",
    { askResponse: "yesButtonClicked", permission: { optionId: "suggestion-1" } },
  ],
  ["Decline", { askResponse: "noButtonClicked" }],
  ["Answer in the Terminal", { askResponse: "cancelButtonClicked" }],
])("%s", async (name, answer) => {
  const host = asked();
  const { user } = showApp(host);
  await card("Claude Code wants to run a command");
  if (name.startsWith("Allow,")) chooseWay("More Ways to Allow", name);
  else await user.click(screen.getByRole("button", { name }));
  await waitFor(() =>
    expect(host.calls("askResponse")).toEqual([{ taskId: "t1", askId: "p1", ...answer }]),
  );
});

test("the model reads why it may not", async () => {
  const host = asked();
  const { user } = showApp(host);
  await card("Claude Code wants to run a command");
  await user.type(screen.getByLabelText("Words for the model if you decline"), "Use a branch. ");
  await user.click(screen.getByRole("button", { name: "Decline" }));
  await waitFor(() =>
    expect(host.calls("askResponse")).toEqual([
      {
        taskId: "t1",
        askId: "p1",
        askResponse: "noButtonClicked",
        permission: { message: "Use a branch." },
      },
    ]),
  );
});

test.each([
  [permission({ changes: [{ path: "a.txt", old: "red", new: "blue" }] }), "redblue"],
  [permission({ changes: [{ path: "a.txt", new: "whole" }] }), "whole"],
])("a change of a file is shown", async (one, text) => {
  showApp(asked(one));
  const { textContent } = await card("Claude Code wants to change a file");
  expect(textContent).toContain("a.txt");
  expect(textContent).toContain(text);
});

test("questions with choices are a form", async () => {
  const options = [{ value: "Red" }, { value: "Blue" }];
  const fields = [{ type: "choice", name: "question1", required: true, options }] as const;
  const host = asked({ ...elicitation([...fields]), serverName: "Claude Code", toolNames: [] });
  const { user } = showApp(host);
  const form = await screen.findByRole("region", { name: /Claude Code asks/ });
  expect(form.textContent).not.toContain("no longer configured");
  await user.click(within(form).getByRole("radio", { name: "Blue" }));
  await user.click(within(form).getByRole("button", { name: "Submit" }));
  await waitFor(() =>
    expect(host.calls("askResponse")).toMatchObject([
      { askResponse: "yesButtonClicked", elicitationContent: { question1: "Blue" } },
    ]),
  );
});

test.each([
  ["Submit", "yesButtonClicked"],
  ["Decline", "noButtonClicked"],
  ["Answer in the Terminal", "cancelButtonClicked"],
])("a form of an agent's host has the ways out of its prompt: %s", async (name, askResponse) => {
  const host = asked({ ...elicitation([]), serverName: "raw in Claude Code", toolNames: [] });
  const { user } = showApp(host);
  const form = await screen.findByRole("region", { name: /raw in Claude Code asks/ });
  // A form without a field is answered with yes or no.
  const words = { Submit: "Yes", Decline: "No" }[name] ?? name;
  const button = within(form).getByRole("button", { name: words });
  expect(screen.queryByRole("button", { name: "More Ways to Decline" })).toBeNull();
  await user.click(button);
  await waitFor(() =>
    expect(host.calls("askResponse")).toEqual([
      expect.objectContaining({ taskId: "t1", askId: "p1", askResponse }),
    ]),
  );
});

test("a plan is shown as it is, and approved as a whole", async () => {
  const plan = "# Clean up\n\n1. Remove a\u202eb";
  const input = JSON.stringify({ plan, planFilePath: "/home/ada/plan.md" });
  const means = "Claude Code leaves plan mode.";
  const host = asked(
    permission({
      ...{ tool: "ExitPlanMode", plan, input },
      options: [{ id: "once", name: "Allow", means, scope: "once" }],
    }),
  );
  const { user } = showApp(host);
  const shown = await card("Claude Code has a plan");
  expect(shown.textContent).toContain("1. Remove a[U+202E]b");
  expect(shown.textContent).toContain('"planFilePath": "/home/ada/plan.md"');
  expect(shown.textContent).toContain(means);
  expect(shown.textContent).not.toContain('"plan":');
  await user.click(within(shown).getByRole("button", { name: "Approve the Plan" }));
  await waitFor(() =>
    expect(host.calls("askResponse")).toMatchObject([
      { askResponse: "yesButtonClicked", permission: { optionId: "once" } },
    ]),
  );
});

test("any other tool is shown by its input", async () => {
  showApp(asked(permission({ tool: "WebFetch", input: '{"url":"https://a.example"}' })));
  const { textContent } = await card("Claude Code wants to use WebFetch");
  expect(textContent).toContain('"url": "https://a.example"');
});

test.each<readonly [Outcome["reason"], Partial<Outcome>, boolean, string]>([
  ["answered", {}, false, "You said yes, and Claude Code was told: git push"],
  ["answered", {}, true, "You allowed: git push"],
  ["declined", {}, false, "You said no, and Claude Code was told: git push"],
  ["declined", {}, true, "You declined: git push"],
  ["declined", { undelivered: "It ran." }, false, "You said no, too late: git push"],
  ["dismissed", {}, false, "You left it to Claude Code's own prompt: git push"],
  ["answeredInHost", {}, false, "Answered in Claude Code: git push"],
  ["hostStoppedWaiting", {}, false, "Claude Code stopped waiting: git push"],
])(
  "an answer counts only once it is confirmed: %s %j %s",
  async (reason, more, delivered, words) => {
    const settled = { ...ask("p1", question, { reason, at, ...more }), delivered };
    showApp(new FakeHost(task(), [message(1, settled)]));
    await screen.findByText(words);
  },
);

test("a confirmation is heard", async () => {
  const host = asked();
  showApp(host);
  await card("Claude Code wants to run a command");
  await host.event(
    {
      type: "askSettled",
      messageId: 1,
      outcome: answered,
      permission: { optionId: "suggestion-1" },
    },
    0,
  );
  await screen.findByText("You said yes, and Claude Code was told: git push");
  await host.event({ type: "askDelivered", messageId: 1 }, 0);
  await screen.findByText("You allowed: git push");
});

test("the question is among the open ones", async () => {
  const entry = openAsk(1, { wants: "host_permission", text: "git push" });
  const host = new FakeHost(waiting, [message(1, ask("p1", question))], {
    "ask/list": () => ({ asks: [entry] }),
  });
  const { user } = showApp(host);
  await user.click(await screen.findByRole("button", { name: /open question/i }));
  const inbox = await screen.findByRole("region", { name: "Open questions" });
  await waitFor(() => expect(inbox.textContent).toContain("asks for your permission"));
});
