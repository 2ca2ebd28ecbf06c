import type { McpSamplingRequest } from "@assent/protocol";
import { expect, test } from "vitest";
import { fileName } from "../store/exportTask.ts";
import {
  answered,
  ask,
  at,
  call,
  callTool,
  demoModel,
  elicitation,
  message,
  sampling,
  samplingReview,
  stringField,
} from "../testing/samples.ts";
import { exportMarkdown } from "./exportMarkdown.ts";

test("a document has the reasons why servers were not available", () => {
  const text = exportMarkdown({ title: "Clean up" }, [
    message(1, {
      type: "notice",
      level: "warning",
      text: "2 of 6 servers are not available.",
      unavailable: [
        { serverName: "uvxx", reason: "The program was\nnot found." },
        { serverName: "slow", reason: "It has not answered yet." },
      ],
    }),
  ]);
  expect(text).toContain(`> 2 of 6 servers are not available.
> - uvxx: The program was not found.
> - slow: It has not answered yet.
`);
});

test("a document counts refused questions of a server once", () => {
  const refused = (count: number) => ({
    type: "notice" as const,
    level: "warning" as const,
    text: `${count} were refused.`,
    refused: { serverName: "database", setting: "assent.limits.maxOpen", max: 32, count },
  });
  const text = exportMarkdown({ title: "Clean up" }, [
    message(1, refused(1)),
    message(2, refused(10)),
  ]);
  expect(text).toBe("# Clean up\n\n> 10 were refused.\n");
});

test("a task is a document, which no text in it breaks", () => {
  const text = exportMarkdown({ title: "Clean\nup" }, [
    message(1, { type: "user", text: "Remove **it**" }),
    message(2, { type: "model", model: demoModel, end: { reason: "toolUse", at } }),
    message(
      3,
      call({
        request: callTool({ n: 1 }),
        result: { type: "result", content: [{ type: "text", text: "a\n```\nb" }] },
      }),
    ),
    message(4, ask("a1", elicitation(), answered)),
    message(5, { type: "model", model: demoModel, text: "Done.", end: { reason: "endTurn", at } }),
  ]);
  expect(text.replaceAll(/_2026[^_]*_/g, "_at_")).toBe(`# Clean up

## You

_at_

Remove **it**

### cleanup of database

_at_

\`\`\`json
{
  "n": 1
}
\`\`\`

\`\`\`\`
a
\`\`\`
b
\`\`\`\`

#### database asked you

_at_

> Delete **1,204** rows?

It asked for:
- Reason

**You answered: Delete 1,204 rows?** _(in VS Code, 2026-11-21 09:30:00 UTC)_

## Demo (not a language model)

_at_

Done.
`);
});

test("a document tells who decided what, and every change before and after", () => {
  const text = exportMarkdown({ title: "Clean up" }, [
    message(1, call({ result: { type: "result", content: [{ type: "text", text: "30 gone" }] } })),
    message(
      2,
      ask(
        "s1",
        sampling({
          messageId: 1,
          samplingRequest: {
            systemPrompt: "You are careful.",
            messages: [{ role: "user", content: [{ type: "text", text: "Is key-1 risky?" }] }],
            maxTokens: 500,
          },
          secrets: [{ description: "a key", text: "key-1" }],
          sentRequest: {
            messages: [{ role: "user", content: [{ type: "text", text: "Is it risky?" }] }],
            maxTokens: 20,
          },
        }),
        answered,
      ),
    ),
    message(
      3,
      ask(
        "r1",
        samplingReview({
          messageId: 1,
          samplingMessageId: 2,
          sentResponse: {
            type: "response",
            role: "assistant",
            content: [{ type: "text", text: "MEDIUM" }],
            model: "demo",
          },
        }),
        answered,
      ),
    ),
    message(
      4,
      ask(
        "a1",
        elicitation([stringField, { ...stringField, name: "password", title: "Password" }], {
          messageId: 1,
          elicitationResponse: {
            action: "accept",
            content: { reason: "yearly", password: "hunter2" },
            secretFields: ["password"],
          },
        }),
        answered,
      ),
    ),
  ]);
  const parts = [
    "### cleanup of database",
    "#### database asked a model",
    "System prompt:\n\n```\nYou are careful.\n```",
    "User:\n\n```\nIs [redacted: a key] risky?\n```",
    `**You edited the request and let ${demoModel.name} answer** _(in VS Code, 2026-11-21 09:30:00 UTC)_`,
    "You changed the request to:\n\nUser:\n\n```\nIs it risky?\n```\n\nAt most 20 tokens.",
    "#### database was waiting for an answer",
    `${demoModel.name} wrote:\n\n\`\`\`\nThe risk is **low**.\n\`\`\``,
    "**You returned (edited): MEDIUM**",
    "You changed the answer to:\n\n```\nMEDIUM\n```",
    "#### database asked you",
    "**You answered: Reason: yearly, Password: •••**",
    "- Reason: yearly\n- Password: •••",
    "#### Result\n\n```\n30 gone\n```",
  ];
  const places = parts.map((part) => text.indexOf(part));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places).not.toContain(-1);
  expect(text).not.toMatch(/hunter2|key-1|mcp_|\dT\d/);
});

const request = (text: string): McpSamplingRequest => ({
  messages: [{ role: "user", content: [{ type: "text", text }] }],
  maxTokens: 500,
});

test.each([
  ["was declined", sampling(), { ...answered, reason: "declined" }],
  [
    "was sent, after an edit that left it in",
    sampling({ sentRequest: request("key-1, please") }),
    answered,
  ],
  [
    "the model repeated",
    sampling({
      result: {
        type: "response",
        role: "assistant",
        content: [{ type: "text", text: "It is key-1." }],
        model: "demo",
      },
    }),
    answered,
  ],
  ["has not been answered", sampling(), undefined],
] as const)("a document has no secret of a request that %s", (_, asked, outcome) => {
  const secrets = [{ description: "a key", text: "key-1" }];
  const samplingRequest = request('Is "key-1" risky?');
  const text = exportMarkdown({ title: "Clean up" }, [
    message(1, ask("s1", { ...asked, samplingRequest, secrets }, outcome)),
    message(2, call({ request: callTool({ key: "key-1" }) })),
  ]);
  expect(text).toContain('Is "[redacted: a key]" risky?');
  expect(text).not.toContain("key-1");
});

test("a document has no secret in the JSON of what is no text", () => {
  const secret = 'pass"word\\1';
  const samplingRequest = {
    messages: [
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "c1", name: "login", input: { with: secret } }],
      },
    ],
    maxTokens: 1,
  } as const;
  const secrets = [{ description: "a password", text: secret }];
  const text = exportMarkdown({ title: "" }, [
    message(1, ask("s1", sampling({ samplingRequest, secrets }))),
  ]);
  expect(text).toContain('"with": "[redacted: a password]"');
});

test.each([
  ["Clean up: the users/table", "Clean-up-the-users-table"],
  ["../..", "task"],
  ["Straße 東京", "Straße-東京"],
])("the file of %j is %j", (title, name) => {
  expect(fileName(title)).toBe(name);
});
