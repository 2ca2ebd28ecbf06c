import { afterEach, describe, expect, test } from "vitest";
import { says } from "../kit/testing/talk.ts";
import { everywhere, modernEra, open, type Talk } from "./testing/converse.ts";

describe.each(everywhere)("%s on %s", (era, transport) => {
  let talk: Talk | undefined;
  afterEach(async () => await talk?.wire.kill());

  test("ask_model returns the received answer unchanged", async () => {
    talk = await open(era, transport);
    const answer = { ...says("Hi!", "something else"), _meta: { odd: [null, 0] } };
    const args = { prompt: "Say hi", system_prompt: "Be brief", max_tokens: 7, temperature: 0 };
    const { result, json, asked } = await talk.call("ask_model", args, () => answer);
    expect(asked).toEqual([
      {
        messages: [{ role: "user", content: { type: "text", text: "Say hi" } }],
        systemPrompt: "Be brief",
        maxTokens: 7,
        temperature: 0,
      },
    ]);
    expect(json).toEqual({ result: answer });
    expect(result["isError"]).toBe(false);
  });

  test("ask_with_picture sends every member that a request has", async () => {
    talk = await open(era, transport);
    const { asked } = await talk.call("ask_with_picture", {}, () => says("Red, and an A."));
    const [{ messages, ...rest } = { messages: [] }] = asked;
    expect(rest).toEqual({
      systemPrompt: expect.any(String),
      maxTokens: 200,
      temperature: 0,
      stopSequences: ["\n\n", "END"],
      metadata: { purpose: "demonstration", nested: { numbers: [1, 2.5, null] } },
      modelPreferences: {
        hints: [{ name: "claude-sonnet" }, { name: "gpt" }, {}],
        costPriority: 0,
        speedPriority: 0.25,
        intelligencePriority: 1,
      },
      includeContext: "thisServer",
    });
    // An array of blocks is of 2025-11-25, sound of the revision before the one that is left out here.
    expect(messages).toHaveLength(era >= "2025-11-25" ? 1 : era === "2024-11-05" ? 2 : 3);
    const blocks = messages.flatMap(({ content }: { content: unknown }) => content);
    expect(blocks.map(({ type }: { type: string }) => type)).toEqual(
      era === "2024-11-05" ? ["text", "image"] : ["text", "image", "audio"],
    );
    const bytes = (nth: number) => Buffer.from(blocks[nth].data, "base64").toString("latin1");
    expect(bytes(1)).toMatch(/^\x89PNG\r\n/);
    if (era !== "2024-11-05") expect(bytes(2)).toMatch(/^RIFF....WAVEfmt /s);
  });

  test("capabilities returns what the client said", async () => {
    const declared = { sampling: { tools: {}, context: {} }, experimental: { x: {} } };
    talk = await open(era, transport, declared);
    const { json } = await talk.call("capabilities");
    expect(json).toMatchObject({ protocolVersion: era, capabilities: declared });
    if (era !== modernEra) expect(json["clientInfo"]).toEqual({ name: "test", version: "1.0.0" });
  });

  test("does not ask a client without sampling", async () => {
    talk = await open(era, transport, {});
    for (const name of ["ask_model", "ask_with_picture", "research"]) {
      const params = { name, arguments: { prompt: "?", question: "?" } };
      expect(await talk.client.error("tools/call", params)).toMatchObject(
        era === modernEra
          ? { code: -32021, data: { requiredCapabilities: { sampling: {} } } }
          : { code: -32602 },
      );
    }
  });

  test("reports problems of a call", async () => {
    talk = await open(era, transport);
    const { result } = await talk.call("ask_model");
    expect(result).toMatchObject({ isError: true, content: [{ text: "prompt is missing" }] });
    const nothing = { name: "nothing" };
    expect(await talk.client.error("tools/call", nothing)).toMatchObject({ code: -32602 });
    expect(await talk.client.error("resources/list")).toMatchObject({ code: -32601 });
    const { tools } = await talk.client.request("tools/list");
    expect(tools).toHaveLength(5);
  });
});
