import { expect, test } from "vitest";
import { readModelSettings } from "./modelSettings.ts";

/** The part of VS Code's settings and secrets that is used here. */
async function read(
  settings: Readonly<Record<string, unknown>>,
  secrets: Readonly<Record<string, string>> = {},
) {
  return await readModelSettings(
    <T>(name: string, otherwise: T) => (settings[name] ?? otherwise) as T,
    { get: async (key) => secrets[key] },
  );
}

test("nothing is set", async () => {
  expect(await read({})).toEqual({ endpoints: [], table: [], allowed: [] });
});

test("each endpoint gets its own key, and those that are not used get none", async () => {
  const keys = {
    "model.anthropic.apiKey": "a",
    "model.openai.apiKey": "o",
    "model.gemini.apiKey": "g",
  };
  const settings = {
    "model.provider": "anthropic",
    "model.endpoints": {
      ollama: { models: ["x"] },
      anthropic: {},
      nonsense: {},
      openai: { baseUrl: "https://example.org/v1", models: ["m"] },
    },
  };
  expect(await read(settings, keys)).toEqual({
    provider: "anthropic",
    endpoints: [
      {
        provider: "openai",
        baseUrl: "https://example.org/v1",
        models: ["m"],
        apiKey: { secret: "o" },
      },
      { provider: "anthropic", baseUrl: "", models: [], apiKey: { secret: "a" } },
      { provider: "ollama", baseUrl: "", models: ["x"] },
    ],
    table: [],
    allowed: [],
  });
});

test("a key in the settings is not a key", async () => {
  const settings = {
    "model.endpoints": { vllm: { apiKey: { secret: "x" }, baseUrl: "http://a" } },
  };
  expect((await read(settings)).endpoints).toEqual([
    { provider: "vllm", baseUrl: "http://a", models: [] },
  ]);
});

test("rules and facts are passed on", async () => {
  const settings = {
    "model.allowed": { weather: ["ollama:*"], "*": [] },
    "model.endpoints": { "*": { facts: { x: { speed: 1 } } } },
  };
  const { allowed, table } = await read(settings);
  expect(allowed).toEqual([
    { serverName: "weather", models: ["ollama:*"] },
    { serverName: "*", models: [] },
  ]);
  expect(table).toEqual([{ match: "x", speed: 1 }]);
});
