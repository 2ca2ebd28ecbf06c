import type { McpSamplingRequest, Model } from "@assent/protocol";
import { expect, test } from "vitest";
import { demoModel, toolRequest } from "../../testing/samples.ts";
import { warningsOf } from "./modelLimits.ts";

const parrot: Model = { ...demoModel, name: "Test parrot" };
const plain: McpSamplingRequest = { maxTokens: 10 };
const picture = { type: "image", data: "AAAA", mimeType: "image/png" } as const;

test.each<readonly [string, McpSamplingRequest, Partial<Model>, readonly string[]]>([
  [
    "what is left out",
    { ...plain, stopSequences: ["END"], temperature: 1 },
    { cannot: ["stopSequences"] },
    ["Test parrot does not support: stop sequences. They are left out."],
  ],
  [
    "one thing that is left out",
    plain,
    { cannot: ["maxTokens", "temperature", "stopSequences", "images"] },
    ["Test parrot does not support: the maximum of tokens. It is left out."],
  ],
  [
    "a system prompt",
    { ...plain, systemPrompt: "Be brief." },
    { cannot: ["systemPrompt"] },
    ["Test parrot does not support a system prompt. It is sent as the first user message."],
  ],
  ["no system prompt", plain, { cannot: ["systemPrompt"] }, []],
  [
    "a picture that a tool returned",
    {
      ...plain,
      messages: [
        { role: "user", content: [{ type: "tool_result", toolUseId: "c", content: [picture] }] },
      ],
    },
    { images: false, cannot: ["audio"] },
    ["Test parrot does not support: images. The request would fail. Choose another model."],
  ],
  [
    "tools",
    toolRequest,
    { cannot: ["tools"] },
    ["Test parrot does not support: tools. The request would fail. Choose another model."],
  ],
  [
    "what nobody promises, once",
    { ...plain, temperature: 0, stopSequences: ["END"] },
    { cannot: ["stopSequences"], mayIgnore: ["maxTokens", "temperature", "stopSequences"] },
    [
      "Test parrot does not support: stop sequences. They are left out.",
      "Test parrot may ignore: the maximum of tokens, the temperature.",
    ],
  ],
  ["nothing of a model that takes all", toolRequest, {}, []],
])("%s", (_name, request, facts, want) => {
  expect(warningsOf(request, { ...parrot, ...facts })).toEqual(want);
});
