import { expect, test } from "vitest";
import { markdownOf } from "./markdownOf.ts";
import { fileName } from "./offerFile.ts";
import {
  answered,
  ask,
  at,
  call,
  callTool,
  demoModel,
  elicitation,
  message,
} from "./testing/samples.ts";

test("a document has the reasons why servers were not available", () => {
  const text = markdownOf({ title: "Clean up" }, [
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

test("a task is a document, which no text in it breaks", () => {
  const text = markdownOf({ title: "Clean\nup" }, [
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

> database, mcp elicitation: answered.

## Demo (not a language model)

_at_

Done.
`);
});

test.each([
  ["Clean up: the users/table", "Clean-up-the-users-table"],
  ["../..", "task"],
  ["Straße 東京", "Straße-東京"],
])("the file of %j is %j", (title, name) => {
  expect(fileName(title)).toBe(name);
});
