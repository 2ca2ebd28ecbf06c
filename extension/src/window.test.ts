import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { iconsIn, linksIn } from "./testing/linkedText.ts";

/** The texts that VS Code was asked to show. */
const shown = vi.hoisted(() => ({
  messages: [] as string[],
  lists: [] as { label: string; description?: string; detail?: string }[][],
  prompts: [] as string[],
  commands: new Map<string, (...args: unknown[]) => unknown>(),
  participant: undefined as
    | ((...args: unknown[]) => Promise<{ errorDetails?: { message: string } }>)
    | undefined,
}));

vi.mock("vscode", () => {
  const message = async (text: string): Promise<undefined> => {
    shown.messages.push(text);
  };
  return {
    l10n: {
      t: (text: string, ...args: unknown[]) =>
        text.replace(/\{(\d)\}/g, (_, n: string) => String(args[Number(n)])),
    },
    StatusBarAlignment: { Left: 1 },
    window: {
      showInformationMessage: message,
      showWarningMessage: message,
      showQuickPick: async (items: { label: string }[]) => {
        shown.lists.push(items);
        return items[0];
      },
      showInputBox: async ({ prompt }: { prompt: string }) => {
        shown.prompts.push(prompt);
        return "typed";
      },
    },
    Disposable: class {},
    chat: {
      createChatParticipant: (_: string, handler: typeof shown.participant) => {
        shown.participant = handler;
        return {};
      },
    },
    commands: {
      registerCommand: (name: string, run: (...args: unknown[]) => unknown) =>
        shown.commands.set(name, run),
    },
  };
});

const hostile = '[Update now](command:workbench.action.terminal.sendSequence?{"text":"id"})';

beforeEach(() => {
  shown.messages = [];
  shown.lists = [];
  shown.prompts = [];
});

describe("texts of others in VS Code's own controls", () => {
  test("the examples are links and icons to VS Code", () => {
    expect(linksIn(hostile)).toEqual([
      'command:workbench.action.terminal.sendSequence?{"text":"id"}',
    ]);
    expect(iconsIn("$(warning) $(sync~spin)")).toEqual(["warning", "sync~spin"]);
  });

  test("a link's path is no link in the warning that refuses it", async () => {
    const { Links } = await import("./links.ts");
    const sidecar = { start: () => {} };
    const links = new Links({ sidecar } as unknown as ConstructorParameters<typeof Links>[0]);
    await links.handleUri({ path: `/${hostile}`, query: "" } as never);
    await links.handleUri({
      path: "/mcp/install",
      query: JSON.stringify({ name: "x", [hostile]: 1 }),
    } as never);
    expect(shown.messages).toEqual([
      expect.stringContaining("[Update now] (command:"),
      expect.stringContaining("[Update now] (command:"),
    ]);
    expect(shown.messages.flatMap(linksIn)).toEqual([]);
  });

  test("the description of an mcp.json's input is neither a link nor an icon", async () => {
    const { Inputs } = await import("./inputs.ts");
    const inputs = new Inputs({ get: async () => undefined, store: async () => {} } as never);
    const params = { source: "s", id: "a", serverName: "s", description: `$(key) ${hostile}` };
    const value = await inputs.prompt({ ...params, kind: "promptString" } as never, {} as never);
    expect(value).toEqual({ value: { secret: "typed" } });
    expect(shown.prompts).toHaveLength(1);
    expect(shown.prompts.flatMap(linksIn)).toEqual([]);
    expect(shown.prompts.flatMap(iconsIn)).toEqual([]);
  });

  test("an option is drawn without icons, and is the value as it was written", async () => {
    const { Inputs } = await import("./inputs.ts");
    const inputs = new Inputs({ get: async () => undefined, store: async () => {} } as never);
    const params = { source: "s", id: "a", serverName: "s", options: ["$(key) one", "two"] };
    const value = await inputs.prompt({ ...params, kind: "pickString" } as never, {} as never);
    expect(value).toEqual({ value: { secret: "$(key) one" } });
    expect(shown.lists.flat().flatMap(({ label }) => iconsIn(label))).toEqual([]);
  });

  test("the error of a command is no link, for VS Code shows it in a notification", async () => {
    const { registerCommand } = await import("./window.ts");
    registerCommand("assent.test", async () => {
      throw new Error(hostile);
    });
    const run = shown.commands.get("assent.test");
    const error = await Promise.resolve(run?.()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(linksIn((error as Error).message)).toEqual([]);
  });

  test("a server's words are no links in VS Code's chat, which reads Markdown", async () => {
    const { registerChatParticipant } = await import("./chatParticipant.ts");
    let tell = (_: unknown): void => {};
    const sidecar = {
      start: () => {},
      onStatus: () => () => {},
      onNotification: (listener: (method: string, params: unknown) => void) => {
        tell = (event) => listener("task/event", { taskId: "a", event });
        return () => {};
      },
      request: async (method: string) => {
        if (method === "task/create") return { id: "a" };
        const body = { type: "notice", text: hostile };
        tell({ type: "messageAdded", message: { id: 2, body } });
        const modelMessage = { end: { reason: "failed", detail: hostile } };
        tell({ type: "modelMessageEnded", messageId: 3, modelMessage });
        return { messageId: 1 };
      },
    };
    registerChatParticipant(sidecar as never, {} as never);
    const progress: string[] = [];
    const result = await shown.participant?.(
      { prompt: "Hi", references: [] },
      { history: [] },
      { progress: (text: string) => progress.push(text) },
      { onCancellationRequested: () => ({ dispose: () => {} }) },
    );
    const escaped = expect.stringContaining("\\[Update now\\]\\(command\\:");
    expect(progress).toEqual([escaped]);
    expect(result?.errorDetails?.message).toEqual(escaped);
  });
});

test("no other file reaches the controls that read links and icons", () => {
  const controls =
    /\bshow(Information|Warning|Error)Message|\bshow(QuickPick|InputBox)|\bcreate(QuickPick|InputBox|StatusBarItem)|\bsetStatusBarMessage|\bwithProgress|\bregister(TextEditor)?Command\b/;
  const direct = new RegExp(`(\\bwindow|\\bcommands)\\s*\\??\\.\\s*(${controls.source})`);
  const taken =
    /\{[^}]*\b(window|commands)\b[^}]*\}\s*=\s*vscode\b|import\s*\{[^}]*\}\s*from "vscode"/;
  const folder = import.meta.dirname;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .filter((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      return direct.test(text) || taken.test(text);
    });
  expect(files).toEqual(["window.ts"]);
});
