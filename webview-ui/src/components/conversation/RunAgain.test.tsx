import type { Call, Message, Outcome, OutcomeReason } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import {
  ask,
  at,
  call,
  callTool,
  elicitation,
  message,
  stringField,
  task,
} from "../../testing/samples.ts";

const lost: Call["result"] = { type: "lost", reason: "Assent stopped. Start it again." };
const outcome = (reason: OutcomeReason): Outcome => ({ reason, at });
const question = elicitation([stringField], { messageId: 1 });

/** A call and its ask, which were both lost. The draft holds the person's text. */
function conversation(result: Call["result"], reason: OutcomeReason): readonly Message[] {
  return [
    message(1, call({ request: callTool({ older: "1 d" }), ...(result && { result }) })),
    message(2, { ...ask("a2", question, outcome(reason)), draft: { reason: "old rows" } }),
  ];
}

const button = { name: "Run the Tool Again" };

describe("an ask that was lost with its call", () => {
  test.each<OutcomeReason>(["restarted", "serverLost", "serverStoppedWaiting", "callEnded"])(
    "%s: the same call can be made again",
    async (reason) => {
      const host = new FakeHost(task(), conversation(lost, reason), {
        "call/start": () => ({ messageId: 3 }),
      });
      const { user, container } = showApp(host);
      const row = (await screen.findByRole("button", button)).closest("li");
      if (row === null) throw new Error("the button is in no row");
      within(row).getByText(/starts from the beginning\.$/);
      within(row).getByText("You typed this, but it was not sent:");
      within(row).getByText("old rows");
      expect(await axeFindings(container)).toEqual([]);
      await user.click(screen.getByRole("button", button));
      await waitFor(() =>
        expect(host.calls("call/start")).toEqual([
          { taskId: "t1", serverName: "database", request: callTool({ older: "1 d" }) },
        ]),
      );
    },
  );

  test("restores the typed text if the same form comes again, and no other", async () => {
    const host = new FakeHost(task(), conversation(lost, "restarted"), {
      "call/start": () => ({ messageId: 3 }),
    });
    const { user } = showApp(host);
    await user.click(await screen.findByRole("button", button));
    const other = elicitation([{ ...stringField, name: "why" }], { messageId: 3 });
    await host.event({ type: "messageAdded", message: message(4, ask("a4", other)) }, 1);
    await screen.findByRole("region", { name: "database asks" });
    const fillIn = { name: "Restore What You Typed" };
    expect(screen.queryByRole("button", fillIn)).toBeNull();
    await host.event({ type: "messageAdded", message: message(5, ask("a5", question)) }, 2);
    await user.click(await screen.findByRole("button", { name: "Next Question" }));
    await user.click(await screen.findByRole("button", fillIn));
    await screen.findByDisplayValue("old rows");
    expect(screen.queryByRole("button", fillIn)).toBeNull();
    await waitFor(() =>
      expect(host.calls("ask/draft")).toContainEqual({
        taskId: "t1",
        askId: "a5",
        draft: { reason: "old rows" },
      }),
    );
  });

  test("says why it was not made again", async () => {
    const host = new FakeHost(task(), conversation(lost, "restarted"), {
      "call/start": () => {
        throw new ResponseError(-32102, "The task is closed.");
      },
    });
    const { user } = showApp(host);
    await user.click(await screen.findByRole("button", button));
    await screen.findByText("The task is closed.");
  });
});

test("a call that was lost after its question was answered has the way itself", async () => {
  const host = new FakeHost(task(), conversation(lost, "answered"), {
    "call/start": () => ({ messageId: 3 }),
  });
  const { user } = showApp(host);
  const row = (await screen.findByRole("button", button)).closest("li");
  if (row === null) throw new Error("the button is in no row");
  within(row).getByRole("article", { name: / of database$/ });
  await user.click(screen.getByRole("button", button));
  await waitFor(() => expect(host.calls("call/start")).toHaveLength(1));
});

describe("an ask has no such way", () => {
  test.each<readonly [string, Call["result"], OutcomeReason]>([
    ["whose call ended", { type: "result" }, "serverStoppedWaiting"],
    ["whose call goes on", undefined, "serverStoppedWaiting"],
  ])("%s", async (_, result, reason) => {
    showApp(new FakeHost(task(), conversation(result, reason)));
    await screen.findByText(/^The server stopped waiting/);
    expect(screen.queryByRole("button", button)).toBeNull();
  });
});
