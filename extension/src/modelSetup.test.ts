import { beforeEach, expect, test, vi } from "vitest";

interface Item {
  readonly label: string;
}

/** A fake VS Code that records requests. */
const world = vi.hoisted(() => ({
  models: [] as object[],
  settings: {} as Record<string, unknown>,
  secrets: {} as Record<string, string>,
  /** The labels that the person chooses and the texts that they type, in order. */
  picks: [] as string[],
  typed: [] as (string | undefined)[],
  offered: [] as string[][],
  commands: [] as unknown[][],
}));

vi.mock("vscode", () => ({
  l10n: {
    t: (text: string, ...args: unknown[]) =>
      text.replace(/\{(\d)\}/g, (_, n: string) => String(args[Number(n)])),
  },
  QuickPickItemKind: { Separator: -1 },
  ConfigurationTarget: { Global: 1 },
  lm: { selectChatModels: async () => world.models },
  workspace: {
    isTrusted: true,
    getConfiguration: () => ({
      inspect: (name: string) => ({ globalValue: world.settings[name] }),
      update: async (name: string, value: unknown) => {
        world.settings[name] = value;
      },
    }),
  },
  window: {
    showQuickPick: async (items: readonly Item[]) => {
      world.offered.push(items.map(({ label }) => label));
      const wanted = world.picks.shift();
      return items.find(({ label }) => label === wanted);
    },
    showInputBox: async ({ value }: { value?: string }) => {
      const text = world.typed.shift();
      return text === "(as proposed)" ? value : text;
    },
  },
  commands: { executeCommand: async (...args: unknown[]) => void world.commands.push(args) },
}));

const secrets = {
  store: async (key: string, value: string) => {
    world.secrets[key] = value;
  },
  delete: async (key: string) => {
    delete world.secrets[key];
  },
} as never;

beforeEach(() => {
  Object.assign(world, { models: [], settings: {}, secrets: {}, offered: [], commands: [] });
});

async function choose(picks: string[], typed: (string | undefined)[] = []): Promise<void> {
  Object.assign(world, { picks, typed });
  const { chooseModel } = await import("./modelSetup.ts");
  await chooseModel(secrets);
}

test("a model of VS Code", async () => {
  world.models = [{ name: "Claude", vendor: "copilot", id: "claude" }];
  await choose(["Claude"]);
  expect(world.settings).toEqual({
    "model.endpoints": { vscode: { model: "copilot/claude" } },
    "model.provider": "vscode",
  });
});

test("an endpoint on this machine joins those that are configured", async () => {
  world.settings = { "model.endpoints": { anthropic: { models: ["x"] } } };
  await choose(["Ollama"]);
  expect(world.offered[0]).not.toContain("VS Code"); // a heading without models
  expect(world.settings).toEqual({
    "model.endpoints": { anthropic: { models: ["x"] }, ollama: {} },
    "model.provider": "ollama",
  });
});

test("a key can be used at once: its endpoint is in the settings", async () => {
  await choose(["Set an API Key…", "Anthropic"], ["sk-1"]);
  expect(world.secrets).toEqual({ "model.anthropic.apiKey": "sk-1" });
  expect(world.settings).toEqual({ "model.endpoints": { anthropic: {} } });
});

test("a key for an OpenAI-compatible endpoint goes with its URL", async () => {
  await choose(["Set an API Key…", "OpenAI-compatible endpoint"], ["(as proposed)", "sk-2"]);
  expect(world.secrets).toEqual({ "model.openai.apiKey": "sk-2" });
  expect(world.settings).toEqual({
    "model.endpoints": { openai: { baseUrl: "https://api.openai.com/v1" } },
  });
});

test("a person who goes away before the key changes nothing", async () => {
  await choose(["Set an API Key…", "OpenAI-compatible endpoint"], ["(as proposed)", undefined]);
  await choose(["Set an API Key…", "Gemini"], [undefined]);
  await choose([]);
  expect(world.settings).toEqual({});
  expect(world.secrets).toEqual({});
});

test("an empty key removes the key, and no setting", async () => {
  world.secrets = { "model.anthropic.apiKey": "sk-1" };
  await choose(["Set an API Key…", "Anthropic"], [""]);
  expect(world.secrets).toEqual({});
  expect(world.settings).toEqual({});
});

test("the settings", async () => {
  await choose(["Open Model Settings"]);
  expect(world.commands).toEqual([
    ["workbench.action.openSettings", "@ext:assent.assent assent.model"],
  ]);
});
