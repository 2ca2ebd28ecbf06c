import { expect, test } from "vitest";
import { Secrets } from "./secrets.ts";

/** The part of VS Code's secret storage that is used here. */
function storage(entries: Readonly<Record<string, string>> = {}) {
  const kept = new Map(Object.entries(entries));
  return {
    kept,
    keys: async () => [...kept.keys()],
    get: async (key: string) => kept.get(key),
    store: async (key: string, value: string) => void kept.set(key, value),
    delete: async (key: string) => void kept.delete(key),
    onDidChange: () => ({ dispose() {} }),
  };
}

test("a secret is kept apart from those of others, read back, and removed", async () => {
  const vscode = storage({ token: "of VS Code's" });
  const secrets = new Secrets(vscode);
  expect(await secrets.get({ key: "token" })).toEqual({ value: null });
  await secrets.set({ key: "token", value: { secret: "ours" } });
  expect(await secrets.get({ key: "token" })).toEqual({ value: { secret: "ours" } });
  await secrets.set({ key: "token", value: null });
  expect(await secrets.get({ key: "token" })).toEqual({ value: null });
  expect([...vscode.kept.keys()]).toEqual(["token"]);
});

test("signing out forgets the sidecar's secrets and no others", async () => {
  const vscode = storage({ "input:token": "typed", "model.openai.apiKey": "key" });
  const secrets = new Secrets(vscode);
  await secrets.set({ key: "oauth:a", value: { secret: "1" } });
  await secrets.set({ key: "oauth:b", value: { secret: "2" } });
  await secrets.forget();
  expect([...vscode.kept.keys()]).toEqual(["input:token", "model.openai.apiKey"]);
});
