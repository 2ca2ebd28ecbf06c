import type { Ask, McpSampling, Outcome, OutcomeReason, UseMcpTool } from "@assent/protocol";
import { describe, expect, test } from "vitest";
import {
  answered,
  ask,
  at,
  demoModel,
  elicitation,
  message,
  otherModel,
  sampling,
  samplingReview,
  urlElicitation,
} from "../testing/samples.ts";
import { lineOf } from "./line.ts";
import { timelineOf } from "./timeline.ts";

function line(question: Ask["question"], outcome: Partial<Outcome> = {}) {
  const messages = [message(1, ask("a1", question, { ...answered, ...outcome }))];
  const step = timelineOf(messages).entries[0]?.steps[0];
  const { words, change } = (step && lineOf(step)) ?? { words: undefined };
  return change === undefined ? words : [words, change];
}

const answer = (text: string) =>
  ({
    type: "response",
    role: "assistant",
    content: [{ type: "text", text }],
    model: "claude-5",
  }) as const;

const tool: UseMcpTool = {
  type: "use_mcp_tool",
  serverName: "database",
  toolUse: { messageId: 1, toolUseId: "u1" },
  tool: { name: "delete_inactive_users", title: "Delete inactive users" },
  arguments: {},
};

describe("the answer is in the line", () => {
  const form = elicitation(
    [
      {
        type: "choice",
        name: "action",
        title: "What to do",
        options: [{ value: "delete", title: "Delete 30 users" }],
      },
      { type: "string", name: "reason", title: "Reason" },
      { type: "boolean", name: "notify", title: "Notify" },
      { type: "boolean", name: "backup", title: "Keep a backup" },
      { type: "string", name: "key", title: "Key", secret: true },
    ],
    {
      elicitationResponse: {
        action: "accept",
        content: {
          reason: "yearly\nclean-up",
          action: "delete",
          notify: false,
          backup: true,
          key: "hunter2",
        },
      },
    },
  );

  test("of a form, in the order of its fields and without secrets", () => {
    expect(line(form)).toBe(
      "You answered: Delete 30 users, Reason: yearly clean-up, Notify: No, Keep a backup, Key: •••",
    );
  });

  test("of a form without fields: what was asked", () => {
    expect(line(elicitation([], { elicitationResponse: { action: "accept" } }))).toBe(
      "You answered: Delete 1,204 rows?",
    );
  });

  const approved = (part: Partial<McpSampling>) => line(sampling({ model: otherModel, ...part }));

  test("of a model, with its name and its tokens", () => {
    expect(approved({})).toBe("You let gpt at localhost answer");
    const usage = { inputTokens: 5, outputTokens: 12 };
    expect(approved({ result: answer("LOW:\n30 **rows**"), usage })).toBe(
      "You let claude-5 answer (12 tokens): LOW: 30 rows",
    );
    const { samplingRequest } = sampling();
    expect(approved({ sentRequest: samplingRequest })).toBe(
      "You edited the request and let gpt at localhost answer",
    );
    expect(line(sampling({ result: answer("LOW") }))).toBe(`You let ${demoModel.name} answer: LOW`);
  });

  test("of the person, if they wrote it in place of a model", () => {
    const result = { ...answer("LOW"), byPerson: true };
    expect(line(sampling({ result }))).toBe("You answered as the model: LOW");
  });

  test("of the person, if they edited what the model wrote", () => {
    expect(line(samplingReview())).toBe("You returned: The risk is low.");
    expect(line(samplingReview({ sentResponse: answer("MEDIUM") }))).toBe(
      "You returned (edited): MEDIUM",
    );
  });

  test("about a tool, and whether they edited the arguments", () => {
    expect(line(tool)).toBe("You allowed: Delete inactive users");
    expect(line({ ...tool, sentArguments: { n: 1 } })).toBe(
      "You allowed (edited): Delete inactive users",
    );
  });
});

test("the answer of a model that a person reviewed is told by the review alone", () => {
  const { entries } = timelineOf([
    message(1, ask("s1", sampling({ result: answer("LOW") }), answered)),
    message(2, ask("r1", samplingReview({ samplingResponse: answer("LOW") }), answered)),
  ]);
  expect(entries.flatMap(({ steps }) => steps.map((step) => lineOf(step)?.words))).toEqual([
    `You let ${demoModel.name} answer`,
    "You returned: LOW",
  ]);
});

test.each<readonly [OutcomeReason, string]>([
  ["declined", "You declined: Delete 1,204 rows?"],
  ["dismissed", "You dismissed it without an answer: Delete 1,204 rows?"],
  ["timedOut", "There was no time left to answer: Delete 1,204 rows?"],
  ["serverStoppedWaiting", "The server stopped waiting: Delete 1,204 rows?"],
  ["callEnded", "The call ended first: Delete 1,204 rows?"],
  ["serverLost", "The connection to the server was lost: Delete 1,204 rows?"],
  ["restarted", "Assent stopped while this was open: Delete 1,204 rows?"],
  ["completed", "The server reported completion: Delete 1,204 rows?"],
  ["noFrontEnd", "No window was open to show it: Delete 1,204 rows?"],
])("an ask that ended as %s says so", (reason, words) => {
  expect(line(elicitation(), { reason, at })).toBe(words);
});

test("a page is told by its site", () => {
  expect(line(urlElicitation())).toBe("You opened login.example.com");
  expect(line(urlElicitation({ awaitsCompletion: true }))).toBe(
    "You opened login.example.com and marked it as done",
  );
});

describe("a decision of before", () => {
  test.each<readonly [Ask["question"], Partial<Outcome>, readonly [string, string]]>([
    [
      elicitation(),
      { reason: "declined", declinedAll: true, standing: "declineAll" },
      ["Declined because you stopped all questions from database: Delete 1,204 rows?", "declined"],
    ],
    [
      tool,
      { reason: "denied", standing: "never" },
      ["Declined because you never allow it: Delete inactive users", "policy"],
    ],
    [
      tool,
      { reason: "granted", standing: "always" },
      ["Allowed because you always allow it: Delete inactive users", "policy"],
    ],
    [
      tool,
      { reason: "granted", standing: "task" },
      ["Allowed because you allow it in this task: Delete inactive users", "policy"],
    ],
    [
      tool,
      { reason: "granted" },
      ["Allowed by your setting assent.tools.autoApprove: Delete inactive users", "settings"],
    ],
    [
      elicitation(undefined, {
        elicitationResponse: { action: "accept", content: { reason: "old" } },
      }),
      { reason: "granted" },
      ["Answered by your setting assent.elicitation.answers: old", "settings"],
    ],
    [
      sampling(),
      { reason: "granted", grantId: "g1" },
      [`Your grant let ${demoModel.name} answer`, "policy"],
    ],
  ])("is named, with where it is changed: %#", (question, outcome, expected) => {
    expect(line(question, outcome)).toEqual(expected);
  });
});
