import type { Grant, PolicyEntry, PreviewGrantResult } from "@assent/protocol";
import { ErrorCode } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { descriptionOf } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead, inHead } from "../../testing/menu.ts";
import {
  ask,
  at,
  demoModel,
  grant,
  grantEntry,
  message,
  otherModel,
  sampling,
  server,
  task,
} from "../../testing/samples.ts";

type Handlers = ConstructorParameters<typeof FakeHost>[2];

/** A host that lists these entries. */
function hostOf(entries: readonly PolicyEntry[], handlers: Handlers = {}) {
  let listed = entries;
  const host = new FakeHost(task(), [], {
    "policy/list": () => ({ entries: listed }),
    "model/list": () => ({ models: [demoModel, otherModel] }),
    ...handlers,
  });
  host.servers = [server(), server({ name: "mail" })];
  return {
    host,
    /** Has a grant in the list, as it is from now on. The panel may read the list again at any time. */
    keep(changed: Grant): Grant {
      const isOld = (entry: PolicyEntry) => entry.type === "grant" && entry.grant.id === changed.id;
      listed = [grantEntry(changed), ...listed.filter((entry) => !isOld(entry))];
      return changed;
    },
  };
}

const button = (name: RegExp | string) => screen.findByRole("button", { name });
const panel = () => screen.findByRole("region", { name: "Automatic Answers" });

describe("the list of grants", () => {
  test("shows the scope, use and state of each grant", async () => {
    const { host } = hostOf([
      grantEntry({
        maxTokens: 4000,
        maxCost: 0.5,
        spent: { requests: 3, tokens: 1200, cost: 0.02, inFlight: 1 },
      }),
      grantEntry({ id: "g2", serverName: "mail", maxRequests: 0, session: true, review: false }),
      grantEntry({ id: "g3", endedAt: at + 1 }),
      grantEntry({ id: "g4", spent: { requests: 10, tokens: 1, cost: 0 } }),
    ]);
    const { user, container } = showApp(host);
    await chooseInHead(user, "Automatic Answers (2 active)");
    const region = await panel();
    expect(document.activeElement).toBe(within(region).getByRole("heading", { level: 2 }));
    const alive = within(region).getByRole("list", { name: "Approved without asking" });
    const [first, second] = within(alive).getAllByRole("listitem");
    within(first as HTMLElement).getByText("active");
    await within(first as HTMLElement).findByText(
      "Up to 10 requests from database, to Demo (not a language model), up to 4,000 tokens and $0.50 in all. You see each answer.",
    );
    const meters = within(first as HTMLElement).getAllByRole("meter");
    expect(
      meters.map(
        (meter) =>
          `${meter.ariaLabel ?? meter.getAttribute("aria-label")}: ${meter.getAttribute("aria-valuetext")}`,
      ),
    ).toEqual(["Requests: 3 of 10", "Tokens: 1,200 of 4,000", "Cost: $0.02 of $0.50"]);
    within(first as HTMLElement).getByText(/^1 request is running\. Created in VS Code, /);
    within(second as HTMLElement).getByText("active for this session");
    within(second as HTMLElement).getByText(
      /^Spent 3 requests, 1,200 tokens, \$0\.02\. Created in/,
    );
    await user.click(within(region).getByText("2 ended"));
    const ended = await within(region).findByRole("list", { name: "Ended grants" });
    within(ended).getByText("revoked");
    within(ended).getByText("used up");
    expect(within(ended).queryByRole("button")).toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  });

  test("focuses the grant that an answer leads to, also if it has ended", async () => {
    const given = (askId: string, grantId: string) =>
      ask(askId, sampling(), { reason: "granted", at, grantId });
    const { host } = hostOf([
      grantEntry(),
      grantEntry({ id: "g2" }),
      grantEntry({ id: "g3", endedAt: at + 1 }),
    ]);
    host.messages = [message(1, given("s1", "g2")), message(2, given("s2", "g3"))];
    const { user } = showApp(host);
    const [toAlive, toEnded] = await screen.findAllByRole("button", { name: "Change" });
    await user.click(toAlive as HTMLElement);
    const alive = await screen.findByRole("list", { name: "Approved without asking" });
    await waitFor(() =>
      expect(document.activeElement).toBe(within(alive).getAllByRole("listitem")[1]),
    );
    // The person closed the ended ones before.
    await user.click(screen.getByText("1 ended"));
    await user.click(screen.getByText("1 ended"));
    await user.click(toEnded as HTMLElement);
    const ended = await screen.findByRole("list", { name: "Ended grants" });
    await waitFor(() => expect(document.activeElement).toBe(within(ended).getByRole("listitem")));
  });

  test("applies changes of grants, and revokes them", async () => {
    const { host, keep } = hostOf([grantEntry()], {
      "grant/revoke": () => keep(grant({ endedAt: at + 1 })),
    });
    const use = (requests: number) =>
      host.tell("grant/changed", keep(grant({ spent: { requests, tokens: 0, cost: 0 } })));
    const { user } = showApp(host);
    await use(7);
    await chooseInHead(user, "Automatic Answers (1 active)");
    const region = await panel();
    await use(8);
    await within(region).findByText("8 of 10");
    await user.click(within(region).getByRole("button", { name: "Revoke the grant of database" }));
    const none = await within(region).findByText(
      "Assent asks you about everything. Nothing is answered automatically.",
    );
    await waitFor(() => expect(document.activeElement).toBe(none));
    expect(host.calls("grant/revoke")).toEqual([{ grantId: "g1" }]);
    await inHead(user, "Automatic Answers");
  });

  test("that cannot be read says why, and is opened by the host's command", async () => {
    const { host } = hostOf([], {
      "policy/list": () => {
        throw new ResponseError(-32603, "The disk is gone.");
      },
    });
    const { user } = showApp(host);
    await inHead(user, "Automatic Answers");
    await host.tell("host/reveal", { kind: "policy" });
    await screen.findByText("The list could not be read: The disk is gone.");
    // One list at a time.
    await chooseInHead(user, "MCP Tasks");
    expect(screen.queryByRole("region", { name: "Automatic Answers" })).toBeNull();
    await screen.findByRole("region", { name: "MCP tasks" });
  });
});

describe("a new grant", () => {
  const preview: PreviewGrantResult = {
    requests: [
      {
        taskId: "t1",
        messageId: 7,
        at,
        toolNames: ["classify"],
        modelId: demoModel.id,
        usage: { inputTokens: 1000, outputTokens: 200, cost: 0.02 },
        allowed: true,
      },
      {
        taskId: "t1",
        messageId: 3,
        at,
        usage: { inputTokens: 5, outputTokens: 5 },
        allowed: false,
        reason: "It is used up.",
      },
    ],
    truncated: true,
  };

  test("is tried on past requests, and made, by the keyboard alone", async () => {
    const spent = { requests: 0, tokens: 0, cost: 0 };
    const made = grant({ id: "new", serverName: "mail", maxRequests: 2, spent });
    const { host, keep } = hostOf([], {
      "grant/preview": () => preview,
      "grant/create": () => keep(made),
    });
    const { user, container } = showApp(host);
    await chooseInHead(user, "Automatic Answers");
    (await button("New Grant…")).focus();
    await user.keyboard("{Enter}");
    const servers = screen.getByRole("combobox", { name: "For the server" });
    expect(document.activeElement).toBe(servers);
    await user.selectOptions(servers, "mail");
    await waitFor(() =>
      expect(host.calls("model/list")).toEqual([
        { serverName: "" },
        { serverName: "database" },
        { serverName: "mail" },
      ]),
    );
    await user.selectOptions(
      await screen.findByRole("combobox", { name: "Model" }),
      otherModel.name,
    );
    const requests = screen.getByRole("textbox", { name: "Requests" });
    await user.clear(requests);
    await user.type(requests, "2");
    await user.type(screen.getByRole("textbox", { name: "Only during the tool" }), "classify");
    await user.click(await button("Try It on Past Requests"));
    await screen.findByText("It would have allowed 1 of 2 past requests, 1,200 tokens, $0.02");
    const past = within(screen.getByRole("list", { name: "Past requests" })).getAllByRole(
      "listitem",
    );
    expect(past[0]?.textContent).toMatch(/classify · demo:script · 1,200 tokens · \$0\.02allowed$/);
    expect(past[1]?.textContent).toMatch(/would have asked: It is used up\.$/);
    screen.getByText("Older requests were not tried.");
    expect(await axeFindings(container)).toEqual([]);
    const terms = {
      serverName: "mail",
      toolName: "classify",
      models: [otherModel.id],
      maxRequests: 2,
      review: true,
    };
    expect(host.calls("grant/preview")).toEqual([terms]);
    const make = await button("Create Grant");
    expect(descriptionOf(make)).toBe(
      "Up to 2 requests from mail during classify, to gpt at localhost. You see each answer.",
    );
    make.focus();
    await user.keyboard("{Enter}");
    await screen.findByText("active");
    expect(host.calls("grant/create")).toEqual([terms]);
    expect(document.activeElement).toBe(await button("New Grant…"));
    expect(screen.queryByRole("combobox", { name: "For the server" })).toBeNull();
  });

  test("a preview disappears when the terms change", async () => {
    const { host } = hostOf([], { "grant/preview": () => ({}) });
    const { user } = showApp(host);
    await chooseInHead(user, "Automatic Answers");
    await user.click(await button("New Grant…"));
    await screen.findByRole("combobox", { name: "Model" });
    await user.click(await button("Try It on Past Requests"));
    await screen.findByText("database has not asked a model yet.");
    await user.type(screen.getByRole("textbox", { name: "Requests" }), "0");
    expect(screen.queryByText("database has not asked a model yet.")).toBeNull();
  });

  test("that is refused says why at the field, and Escape leaves the form and not the list", async () => {
    const problem = { name: "maxRequests", message: "At most 5." };
    const { host } = hostOf([], {
      "grant/create": () => {
        throw new ResponseError(ErrorCode.InvalidAnswer, "The grant makes no sense.", {
          problems: [problem],
        });
      },
    });
    const { user } = showApp(host);
    await chooseInHead(user, "Automatic Answers");
    await user.click(await button("New Grant…"));
    await screen.findByRole("combobox", { name: "Model" });
    await user.click(await button("Create Grant"));
    await screen.findByText("The grant makes no sense.");
    const requests = screen.getByRole("textbox", { name: "Requests" });
    expect(descriptionOf(requests)).toBe("At most 5.");
    requests.focus();
    await user.keyboard("{Escape}");
    expect(document.activeElement).toBe(await button("New Grant…"));
    await panel();
  });
});
