import type { PolicyEntry } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { policyIsRead, showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead } from "../../testing/menu.ts";
import { at, policyEntries, task } from "../../testing/samples.ts";

const asksAboutAll = "Assent asks you about everything. Nothing is answered automatically.";

function hostOf(entries: readonly PolicyEntry[]) {
  let now = entries;
  const host = new FakeHost(task(), [], {
    "policy/list": () => ({ entries: now }),
    "toolRule/remove": ({ ruleId }) => {
      now = now.filter((entry) => entry.type !== "toolRule" || entry.ruleId !== ruleId);
      return { removed: true };
    },
    "ask/again": () => ({}),
  });
  return Object.assign(host, {
    become: (next: readonly PolicyEntry[]) => {
      now = next;
    },
  });
}

const panel = () => screen.findByRole("region", { name: "Automatic Answers" });

/** The row in a list with this text. */
function rowOf(list: HTMLElement, text: string | RegExp): HTMLElement {
  const row = within(list)
    .getAllByRole("listitem")
    .find((item) => within(item).queryByText(text) !== null);
  if (row === undefined) throw new Error(`no row has ${text}`);
  return row;
}

test("an entry that the organisation put to sleep says why", async () => {
  const asleep = "Blocked by your organisation: /etc/assent/policy.json, approvals.grants.";
  const { user } = showApp(hostOf(policyEntries.map((entry) => ({ ...entry, asleep }))));
  await chooseInHead(user, /Automatic Answers/);
  const region = await panel();
  const said = await within(region).findAllByText(`It has no effect now. ${asleep}`);
  expect(said.length).toBeGreaterThan(3);
});

test("each decision shows its effect, its source and its use", async () => {
  const { user, container } = showApp(hostOf(policyEntries));
  await chooseInHead(user, "Automatic Answers (8 active)");
  const region = await panel();
  const approved = await within(region).findByRole("list", { name: "Approved without asking" });
  const always = rowOf(approved, "cleanup");
  within(always).getByText("of database");
  within(always).getByText("Always approved, until its server changes its description.");
  within(always).getByText(/^Decided in VS Code, .* Used 3 times since Assent started, last at /);
  within(approved).getByText("Approved in “First”, until that is closed.");
  const answer = rowOf(approved, "deploy");
  within(answer).getByText('Its form is answered with environment: "staging" and copies: 2.');
  within(answer).getByText("assent.elicitation.answers", { selector: "code" });
  within(answer).getByText(/Used once since Assent started, at /);
  within(approved).getByText(/^A model may use each tool that is read-only/);
  within(approved).getByText("A server gets each answer of a model before you see it.");
  within(approved).getByText(/Used 2 times since Assent started, last for mail at /);
  const declined = within(region).getByRole("list", { name: "Declined without asking" });
  within(rowOf(declined, "drop")).getByText("Never: the model is told that you declined.");
  within(declined).getByText(
    "You declined everything from mail in VS Code, until Assent starts again.",
  );
  const limits = within(region).getByRole("list", { name: "Limits" });
  within(limits).getByText(/Only these models may answer: demo:\*\./);
  within(limits).getByText(/No model may answer\./);
  within(limits).getByText(/^At most 32 forms and pages/);
  within(limits).getByText(/^Refused 4 requests since Assent started, the last from mail at /);
  within(limits).getByText(/has at most 2\.0 MB/);
  within(region).getByText("Limits (4 refused)");
  expect(await axeFindings(container)).toEqual([]);
});

test("each decision is changed at its source", async () => {
  const host = hostOf(policyEntries);
  const { user, session } = showApp(host);
  await chooseInHead(user, "Automatic Answers (8 active)");
  const region = await panel();
  await policyIsRead(session);
  const press = async (name: string) =>
    await user.click(within(region).getByRole("button", { name }));
  await press("Revoke the answer about drop");
  await waitFor(() => expect(host.calls("toolRule/remove")).toEqual([{ ruleId: "r2" }]));
  await waitFor(() => expect(within(region).queryByText("drop")).toBeNull());
  expect(document.activeElement?.textContent).toMatch(/^Assent asks you about everything that/);
  await press("Ask Me Again what mail asks");
  await waitFor(() => expect(host.calls("ask/again")).toEqual([{ serverName: "mail" }]));
  await press("Open Setting assent.tools.autoApprove");
  await press("Open Setting assent.limits");
  await waitFor(() =>
    expect(host.calls("host/openConfiguration")).toEqual([
      { source: "settings", setting: "assent.tools.autoApprove" },
      { source: "settings", setting: "assent.limits" },
    ]),
  );
});

test("the page follows changes, and says that Assent asks about everything", async () => {
  const host = hostOf(policyEntries);
  const { user } = showApp(host);
  await chooseInHead(user, "Automatic Answers (8 active)");
  const region = await panel();
  expect(within(region).queryByText(asksAboutAll)).toBeNull();
  host.become(policyEntries.filter(({ type }) => type === "limit"));
  await host.tell("policy/changed", undefined);
  await within(region).findByText(asksAboutAll);
  expect(within(region).queryByRole("list", { name: "Approved without asking" })).toBeNull();
  expect(within(region).queryByRole("list", { name: "Limits" })).not.toBeNull();
});

test("a long list is filtered by server, tool or setting", async () => {
  const { user } = showApp(hostOf(policyEntries));
  await chooseInHead(user, "Automatic Answers (8 active)");
  const region = await panel();
  const filter = within(region).getByRole("textbox", { name: "Filter by server, tool or setting" });
  await user.type(filter, "Deploy");
  within(region).getByText(`1 of ${policyEntries.length} shown`);
  expect(within(region).queryByText("cleanup")).toBeNull();
  await user.clear(filter);
  await user.type(filter, "autoapprove");
  within(region).getByText("Tools that change nothing");
  await user.clear(filter);
  within(region).getByText("cleanup");
});

test("a short list has no filter", async () => {
  const one: PolicyEntry = {
    ...{ type: "declinedServer", effect: "decline", serverName: "mail", by: "VS Code", at },
  };
  const { user } = showApp(hostOf([one]));
  await chooseInHead(user, "Automatic Answers (1 active)");
  const region = await panel();
  within(region).getByText("Not used since Assent started.", { exact: false });
  expect(within(region).queryByRole("textbox")).toBeNull();
});
