import { readFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import { reportOldSettings, settingsReader } from "./settings.ts";

/** The settings of the person and of the workspace, by their names after "assent.". */
const world = vi.hoisted(() => ({
  own: {} as Record<string, unknown>,
  workspace: {} as Record<string, unknown>,
  trusted: true,
  told: [] as string[],
  commands: [] as unknown[],
}));

vi.mock("vscode", () => ({
  l10n: {
    t: (text: string, ...args: unknown[]) =>
      text.replace(/\{(\d)\}/g, (_, n: string) => String(args[Number(n)])),
  },
  workspace: {
    get isTrusted() {
      return world.trusted;
    },
    getConfiguration: () => ({
      get: (name: string) => world.workspace[name] ?? world.own[name],
      inspect: (name: string) => ({
        globalValue: world.own[name],
        workspaceValue: world.workspace[name],
      }),
    }),
  },
  window: {
    showInformationMessage: async (text: string, _: object, button: string) => {
      world.told.push(text);
      return button;
    },
  },
  commands: { executeCommand: async (command: unknown) => void world.commands.push(command) },
}));

beforeEach(() => {
  Object.assign(world, { own: {}, workspace: {}, trusted: true, told: [], commands: [] });
});

const read = (name: string): unknown => settingsReader()(name, "the default");

test("a setting has its default until it is set", () => {
  expect(read("sampling.review")).toBe("the default");
  world.own["sampling.review"] = "never";
  expect(read("sampling.review")).toBe("never");
});

test("a trusted workspace sets the settings that it may", () => {
  Object.assign(world.workspace, { servers: { evil: {} }, "chat.systemPrompt": "Be brief." });
  expect(read("servers")).toBe("the default");
  expect(read("chat.systemPrompt")).toBe("Be brief.");
  world.trusted = false;
  expect(read("chat.systemPrompt")).toBe("the default");
});

test("an old name sets its part of the setting, unless the new name does", () => {
  Object.assign(world.own, {
    "elicitation.maxOpen": 3,
    "asks.timeout": 0,
    "sampling.limits": { inFlight: 1, toolRounds: 2 },
    limits: { toolRounds: 7 },
  });
  expect(read("limits")).toEqual({ maxOpen: 3, answerSeconds: 0, inFlight: 1, toolRounds: 7 });
  world.own["model.openai.baseUrl"] = "https://old.example/v1";
  world.own["model.endpoints"] = { ollama: {}, openai: { models: ["m"] } };
  expect(read("model.endpoints")).toEqual({
    ollama: {},
    openai: { baseUrl: "https://old.example/v1", models: ["m"] },
  });
});

test("a workspace sets by an old name no more than by the new one", () => {
  Object.assign(world.workspace, { "elicitation.maxOpen": 1000, "chat.maxRounds": 5 });
  expect(read("limits")).toBe("the default");
  expect(read("chat.limits")).toEqual({ maxRounds: 5 });
});

test("old names are reported once", async () => {
  const kept = new Map<string, unknown>();
  const state = {
    get: (key: string) => kept.get(key),
    update: async (key: string, value: unknown) => void kept.set(key, value),
  } as never;
  const warn = vi.fn();
  const report = () => reportOldSettings({ warn } as never, state);
  await report();
  expect(world.told).toEqual([]);
  Object.assign(world.own, { "asks.timeout": 60, "sampling.diagram": false });
  await report();
  await report();
  expect(world.told).toEqual([
    "Settings of Assent have new names. The old names still work in this version: assent.asks.timeout is now assent.limits.answerSeconds; assent.sampling.diagram has gone.",
  ]);
  expect(world.commands).toEqual(["workbench.action.openSettingsJson"]);
  expect(warn).toHaveBeenCalledOnce();
});

test("each old name leads to a member that the manifest has", () => {
  const source = readFileSync(new URL("settings.ts", import.meta.url), "utf8");
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const moved = [...source.matchAll(/^ {2}\["([\w.]+)", "([\w.]+)"(.*)\],$/gm)];
  expect(moved).toHaveLength(13);
  for (const [, old, now, path = ""] of moved) {
    expect(manifest).not.toContain(`"assent.${old}"`);
    expect(manifest).toContain(`"assent.${now}"`);
    for (const [, member] of path.matchAll(/"([^"]+)"/g)) expect(manifest).toContain(`"${member}"`);
  }
});
