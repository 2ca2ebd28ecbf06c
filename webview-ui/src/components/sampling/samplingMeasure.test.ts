import type { ContentBlock, McpSamplingRequest } from "@assent/protocol";
import { expect, test } from "vitest";
import { toolRequest } from "../../testing/samples.ts";
import { estimateTokens, mostCost, summarize } from "./samplingMeasure.ts";

const png: ContentBlock = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };

function of(content: readonly ContentBlock[], part: Partial<McpSamplingRequest> = {}) {
  return { messages: [{ role: "user" as const, content }], maxTokens: 1, ...part };
}

const text: ContentBlock = { type: "text", text: "12345678" };

// What each is worth is what the sidecar counts it as.
test.each<readonly [string, McpSamplingRequest, number]>([
  ["a text by its bytes", of([{ type: "text", text: "日本" }]), 4 + 2],
  ["a system prompt", of([], { systemPrompt: "12345" }), 4 + 2],
  ["a picture", of([png]), 4 + 1500],
  ["a sound", of([{ type: "audio", data: "A".repeat(2400), mimeType: "audio/wav" }]), 4 + 3],
  ["a call", of([{ type: "tool_use", id: "c", name: "look", input: { a: 1 } }]), 4 + 1 + 2],
  ["a result", of([{ type: "tool_result", toolUseId: "c", content: [text, png] }]), 4 + 1502],
  [
    "a tool",
    of([], { tools: [{ name: "look", description: "1234", inputSchema: { type: "object" } }] }),
    4 + (4 + 1 + 1 + 5),
  ],
])("%s", (_name, request, tokens) => {
  expect(estimateTokens(request)).toBe(tokens);
});

test("the cost is of all that is read and the most that is written", () => {
  const request = { ...of([text]), maxTokens: 1000 };
  expect(mostCost(request, { inputCost: 3, outputCost: 15 })).toBeCloseTo(0.015018, 9);
  expect(mostCost(request, { inputCost: 0, outputCost: 0 })).toBe(0);
  expect(mostCost(request, { inputCost: 3 })).toBeUndefined();
  expect(mostCost(request, { inputCost: Number.MAX_VALUE, outputCost: 1 })).toBeUndefined();
});

test("a tool's result counts where it is used", () => {
  expect(summarize(toolRequest)).toBe(
    "3 messages · 2 tools offered · 2 tool calls, 2 tool results · about 72 tokens · at most 500 tokens back",
  );
  expect(summarize(of([{ type: "tool_result", toolUseId: "c", content: [png] }]))).toMatch(
    /^1 message · 1 image · 1 tool result · about 1,504 tokens/,
  );
});
