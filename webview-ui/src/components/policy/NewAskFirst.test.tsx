import { ErrorCode, type PolicyEntry } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { policyIsRead, showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead } from "../../testing/menu.ts";
import { at, task } from "../../testing/samples.ts";

const head = { type: "askFirst", effect: "ask", by: "VS Code", at } as const;
const used = { count: 2, lastAt: at, lastServer: "Claude Code" };
const rules: readonly PolicyEntry[] = [
  { ...head, ruleId: "a", command: "git pu\u202esh", used },
  { ...head, ruleId: "b", tool: "mcp__github__*" },
  { ...head, ruleId: "c", outside: true },
];

function hostOf(entries: readonly PolicyEntry[], refuses?: string) {
  let listed = entries;
  const host = new FakeHost(task(), [], {
    "policy/list": () => ({ entries: listed }),
    "askFirst/add": (terms) => {
      if (refuses !== undefined) throw new ResponseError(ErrorCode.InvalidAnswer, refuses);
      listed = [{ ...head, ruleId: "new", ...terms }, ...listed];
      return { ruleId: "new" };
    },
    "askFirst/remove": ({ ruleId }) => {
      listed = listed.filter((entry) => entry.type !== "askFirst" || entry.ruleId !== ruleId);
      return { removed: true };
    },
  });
  return host;
}

const panel = () => screen.findByRole("region", { name: "Automatic Answers" });

test("what agents ask first is listed with its use, and each rule can be removed", async () => {
  const host = hostOf(rules);
  const { user, container, session } = showApp(host);
  await chooseInHead(user, /Automatic Answers/);
  const list = await within(await panel()).findByRole("list", { name: "Agents ask you first" });
  const words = within(list)
    .getAllByRole("listitem")
    .map(({ textContent }) => textContent);
  expect(words[0]).toMatch(
    /git pu\[U\+202E\]sh.*Used 2 times since Assent started, last for Claude/,
  );
  expect(words[1]).toMatch(/mcp__github__\*.*Decided in VS Code.*Not used since Assent started/);
  expect(words[2]).toMatch(/Anything outside of the agent's folder/);
  // No rule here answers in the person's name.
  within(await panel()).getByText(/^Assent asks you about everything\./);
  expect(await axeFindings(container)).toEqual([]);
  await policyIsRead(session);
  await user.click(
    within(list).getByRole("button", { name: "Remove the rule about mcp__github__*" }),
  );
  await waitFor(() => expect(within(list).getAllByRole("listitem")).toHaveLength(2));
  expect(host.calls("askFirst/remove")).toEqual([{ ruleId: "b" }]);
});

test.each([
  ["a command", "git push", { command: "git push" }],
  ["a tool", "WebFetch", { tool: "WebFetch" }],
  ["anything outside of the agent's folder", undefined, { outside: true }],
])("a rule is made about %s", async (kind, text, terms) => {
  const host = hostOf([]);
  const { user, container, session } = showApp(host);
  await chooseInHead(user, /Automatic Answers/);
  await user.click(within(await panel()).getByRole("button", { name: "Ask Me First…" }));
  await user.selectOptions(screen.getByLabelText("Agents ask me before"), kind);
  if (text !== undefined) await user.type(screen.getByRole("textbox", { name: /such as/ }), text);
  expect(await axeFindings(container)).toEqual([]);
  await policyIsRead(session);
  await user.click(screen.getByRole("button", { name: "Add Rule" }));
  await screen.findByRole("list", { name: "Agents ask you first" });
  expect(host.calls("askFirst/add")).toEqual([terms]);
});

test("the form of a rule has the focus, and Escape leaves it for its button", async () => {
  const { user } = showApp(hostOf([]));
  await chooseInHead(user, /Automatic Answers/);
  const button = within(await panel()).getByRole("button", { name: "Ask Me First…" });
  await user.click(button);
  expect(document.activeElement).toBe(screen.getByLabelText("Agents ask me before"));
  await user.keyboard("{Escape}");
  expect(document.activeElement).toBe(button);
  expect(screen.queryByLabelText("Agents ask me before")).toBeNull();
  await panel(); // Escape left the form, and not the page
});

test("a rule that is refused says why, and what was typed stays", async () => {
  const host = hostOf([], "there is such a rule already");
  const { user } = showApp(host);
  await chooseInHead(user, /Automatic Answers/);
  await user.click(within(await panel()).getByRole("button", { name: "Ask Me First…" }));
  const typed = screen.getByRole("textbox", { name: /such as git push/ });
  await user.type(typed, "git push");
  await user.click(screen.getByRole("button", { name: "Add Rule" }));
  await screen.findByText("there is such a rule already");
  expect(typed).toHaveProperty("value", "git push");
});
