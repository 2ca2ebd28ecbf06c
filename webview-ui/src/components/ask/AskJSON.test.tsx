import type { UseMcpServer } from "@assent/protocol";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import {
  elicitation,
  sampling,
  samplingReview,
  toolRequest,
  urlElicitation,
} from "../../testing/samples.ts";
import { AskJSON } from "./AskJSON.tsx";

let count = 0;

/** Draws a question's JSON and opens it. Returns the shown texts by their labels. */
async function open(question: UseMcpServer) {
  const user = userEvent.setup();
  count += 1;
  const { container } = render(<AskJSON question={question} keep={`t1:${count}`} />);
  await user.click(screen.getByText("Show JSON"));
  const parts = [...container.querySelectorAll(".raw-json")].map((part) => [
    part.querySelector(".turn-role > span")?.textContent,
    part.querySelector("pre")?.textContent ?? "",
  ]);
  return { user, container, shown: Object.fromEntries(parts) as Record<string, string> };
}

const asked = "sampling/createMessage, params";
const returned = "Returned to the server";

test("an elicitation's schema is shown as the server wrote it, with all digits and members", async () => {
  const requestedSchema =
    '{"type":"object","properties":{"n":{"type":"integer","maximum":12345678901234567890}},"x-mine":1.0}';
  const { shown, container } = await open(
    elicitation([], {
      elicitationRequest: { message: "How many?", requestedSchema },
      elicitationResponse: { action: "accept", content: { n: 7 } },
    }),
  );
  expect(shown).toEqual({
    "elicitation/create, params": expect.stringContaining('"maximum": 12345678901234567890'),
    [returned]: '{\n  "action": "accept",\n  "content": {\n    "n": 7\n  }\n}',
  });
  expect(shown["elicitation/create, params"]).toContain('"x-mine"');
  expect(await axeFindings(container)).toEqual([]);
});

test("an answer's secrets are masked, and the server's JSON has no member of Assent's", async () => {
  const { shown } = await open(
    elicitation(
      [
        { type: "string", name: "a" },
        { type: "string", name: "b", secret: true },
      ],
      {
        elicitationResponse: {
          action: "accept",
          content: { a: "s3cret", b: "s3cret", c: 1 },
          secretFields: ["a"],
        },
      },
    ),
  );
  expect(JSON.parse(shown[returned] ?? "")).toEqual({
    action: "accept",
    content: { a: "•••", b: "•••", c: 1 },
  });
});

describe("a sampling request", () => {
  test("is shown as MCP writes it, with the edited request and the result", async () => {
    const { shown } = await open(
      sampling({
        samplingRequest: toolRequest,
        sentRequest: { ...toolRequest, maxTokens: 7 },
        result: {
          type: "response",
          role: "assistant",
          content: [{ type: "text", text: "Rain." }],
          model: "gpt",
          stopReason: "endTurn",
        },
      }),
    );
    expect(Object.keys(shown)).toEqual([asked, "Sent to the model after your edits", returned]);
    const { messages, maxTokens } = JSON.parse(shown[asked] ?? "");
    expect(messages[0]).toEqual({
      role: "user",
      content: { type: "text", text: "What is the weather in Paris?" },
    });
    expect(messages[1].content).toHaveLength(3);
    expect(maxTokens).toBe(500);
    expect(JSON.parse(shown["Sent to the model after your edits"] ?? "").maxTokens).toBe(7);
    expect(JSON.parse(shown[returned] ?? "")).toEqual({
      role: "assistant",
      content: { type: "text", text: "Rain." },
      model: "gpt",
      stopReason: "endTurn",
    });
  });

  test("is copied in full, although an image is cut on the screen", async () => {
    const data = "A".repeat(30_000);
    const { shown, user } = await open(
      sampling({
        samplingRequest: {
          messages: [{ role: "user", content: [{ type: "image", data, mimeType: "image/png" }] }],
          maxTokens: 1,
        },
      }),
    );
    expect(shown[asked]?.length).toBeLessThan(1000);
    screen.getByText("Long data is shortened here. Copy copies all of it.");
    await user.click(screen.getByRole("button", { name: `Copy ${asked}` }));
    expect(await navigator.clipboard.readText()).toContain(data);
  });
});

test("an answer that did not reach the server is not said to be returned", async () => {
  const question = urlElicitation({ elicitationResponse: { action: "accept" } });
  render(<AskJSON question={question} undelivered keep="t1:undelivered" />);
  await userEvent.click(screen.getByText("Show JSON"));
  screen.getByText("Answer (not delivered to the server)");
  expect(screen.queryByText(returned)).toBeNull();
});

test("a call with other arguments is not shown as if the server had got the model's", async () => {
  const { shown } = await open({
    type: "use_mcp_tool",
    serverName: "database",
    toolUse: { messageId: 1, toolUseId: "c1" },
    tool: { name: "cleanup" },
    arguments: { table: "users" },
    sentArguments: { table: "logs" },
  });
  expect(Object.entries(shown).map(([label, text]) => [label, JSON.parse(text)])).toEqual([
    ["tools/call, params of the model", { name: "cleanup", arguments: { table: "users" } }],
    ["Sent to the server after your edits", { name: "cleanup", arguments: { table: "logs" } }],
  ]);
});

test.each<[string, UseMcpServer, unknown]>([
  ["sampling/createMessage, result of the model", samplingReview(), "The risk is **low**."],
  ["elicitation/create, params", urlElicitation(), '"mode": "url"'],
  [
    "tools/call, params",
    {
      type: "use_mcp_tool",
      serverName: "database",
      toolUse: { messageId: 1, toolUseId: "c1" },
      tool: { name: "cleanup" },
      arguments: { id: 1e20 },
      argumentsText: '{"id":100000000000000000001}',
    },
    '"id": 100000000000000000001',
  ],
  [
    "resources/read, params",
    {
      type: "access_mcp_resource",
      serverName: "database",
      toolUse: { messageId: 1, toolUseId: "c1" },
      uri: "db://rows",
    },
    '"uri": "db://rows"',
  ],
])("%s", async (label, question, text) => {
  const { shown } = await open(question);
  expect(shown).toEqual({ [label]: expect.stringContaining(String(text)) });
});

test("what hides is shown, and Assent's own question has no JSON", async () => {
  const { shown } = await open(urlElicitation({ message: "pay\u202e me" }));
  expect(shown["elicitation/create, params"]).toContain("pay[U+202E] me");
  const { container } = render(
    <AskJSON
      question={{ type: "repeat_mcp_call", serverName: "database", reason: "It failed." }}
      keep="t1:none"
    />,
  );
  expect(container.textContent).toBe("");
});
