import type { ConfirmServerParams, ConfirmServerResult, ServerDefinition } from "@assent/protocol";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

interface Dialog {
  readonly message: string;
  readonly detail: string;
  choose(item: string | undefined): void;
}

const dialogs = vi.hoisted((): Dialog[] => []);

vi.mock("vscode", () => ({
  l10n: {
    t: (text: string, ...args: unknown[]) =>
      text.replace(/\{(\d)\}/g, (_, n: string) => String(args[Number(n)])),
  },
  window: {
    showWarningMessage: (message: string, { detail = "" }: { detail?: string }) =>
      new Promise<string | undefined>((choose) => dialogs.push({ message, detail, choose })),
  },
}));

vi.mock("./openSource.ts", () => ({
  openConfiguration: () => Promise.reject(new Error("the file is gone")),
}));

const { ConfirmServer } = await import("./confirmServer.ts");

const params = (serverName: string): ConfirmServerParams => ({
  serverName,
  source: "/ws/.vscode/mcp.json",
  definition: { transport: "stdio", command: `${serverName}.sh` },
});
const warned = { definition: { transport: "stdio" as const, warnings: ["It sets PATH."] } };
const token = (isCancellationRequested = false) =>
  ({ isCancellationRequested }) as import("vscode").CancellationToken;

/** Waits for the next dialog, and returns it. */
async function next(): Promise<Dialog> {
  await vi.advanceTimersByTimeAsync(1000);
  const dialog = dialogs.shift();
  if (dialog === undefined) throw new Error("no dialog is shown");
  expect(dialogs).toEqual([]);
  return dialog;
}

describe("servers that are to be confirmed", () => {
  beforeEach(() => {
    dialogs.length = 0;
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const ask = (names: readonly string[], confirm = new ConfirmServer()) =>
    names.map((name) => confirm.ask(params(name), token()));

  test("one is shown whole", async () => {
    const [a] = ask(["a"]);
    const dialog = await next();
    expect(dialog.message).toBe("The MCP server a is new in this workspace. Run it?");
    expect(dialog.detail).toContain("Command: a.sh");
    dialog.choose("Run It");
    expect(await a).toEqual({ decision: "allowed" });
  });

  test.each<[string | undefined, ConfirmServerResult]>([
    ["Run Them", { decision: "allowed" }],
    ["Do Not Run Them", { decision: "refused" }],
    [undefined, {}],
  ])("several that come together are one question: %s", async (item, want) => {
    const answers = ask(["a", "b"]);
    const dialog = await next();
    expect(dialog.message).toMatch(/^2 MCP servers/);
    expect(dialog.detail).toContain("Command: a.sh");
    expect(dialog.detail).toContain("Command: b.sh");
    dialog.choose(item);
    expect(await Promise.all(answers)).toEqual([want, want]);
  });

  test.each<[string, Partial<ServerDefinition>, string]>([
    [
      "sends",
      { warnings: ["It sends your variable A to b.example."] },
      "⚠ It sends your variable A",
    ],
    ["changes what runs", { warnings: ["It sets PATH."] }, "⚠ It sets PATH."],
    [
      "reads outside the workspace",
      { warnings: ["It reads /home/a/.env."], files: ["/home/a/.env"] },
      "⚠ It reads /home/a/.env.",
    ],
  ])("one that %s is never part of another question", async (_, more, warning) => {
    const confirm = new ConfirmServer();
    const [a, b] = ask(["a", "b"], confirm);
    const odd = params("odd");
    const asked = confirm.ask({ ...odd, definition: { ...odd.definition, ...more } }, token());
    const plain = await next();
    expect(plain.detail).not.toContain("odd.sh");
    plain.choose("Run Them");
    const dialog = await next();
    expect(dialog.detail.startsWith(warning)).toBe(true);
    expect(dialog.message).toContain("The MCP server odd is new");
    expect(dialog.message.includes("it reads /home/a/.env.")).toBe(more.files !== undefined);
    dialog.choose("Do Not Run It");
    expect(await Promise.all([a, b, asked])).toEqual([
      { decision: "allowed" },
      { decision: "allowed" },
      { decision: "refused" },
    ]);
  });

  test("several are decided one by one", async () => {
    const answers = ask(["a", "b"]);
    (await next()).choose("Decide One by One");
    (await next()).choose("Run It");
    (await next()).choose("Do Not Run It");
    expect(await Promise.all(answers)).toEqual([{ decision: "allowed" }, { decision: "refused" }]);
  });

  test("a file that cannot be shown fails its own question, and no other", async () => {
    const [a, b] = ask(["a", "b"]);
    (await next()).choose("Decide One by One");
    const failed = expect(a).rejects.toThrow("the file is gone");
    (await next()).choose("Show Configuration");
    await failed;
    (await next()).choose("Run It");
    expect(await b).toEqual({ decision: "allowed" });
  });

  test("a later question waits for its turn, and a withdrawn one is not shown", async () => {
    const confirm = new ConfirmServer();
    const [a] = ask(["a"], confirm);
    const first = await next();
    const [b] = ask(["b"], confirm);
    const gone = confirm.ask(params("c"), token(true));
    first.choose("Run It");
    const second = await next();
    expect(second.message).toContain("server b ");
    second.choose("Do Not Run It");
    expect(await Promise.all([a, b, gone])).toEqual([
      { decision: "allowed" },
      { decision: "refused" },
      {},
    ]);
  });

  test("a dismissed dialog puts away all questions that wait", async () => {
    const confirm = new ConfirmServer();
    const names = ["a", "b", "c", "d", "e", "f"];
    const answers = ask(names, confirm);
    const odd = confirm.ask({ ...params("odd"), ...warned }, token());
    (await next()).choose(undefined);
    expect(await Promise.all([...answers, odd])).toEqual(Array(7).fill({}));
    const [again] = ask(["a"], confirm);
    (await next()).choose("Run It");
    expect(await again).toEqual({ decision: "allowed" });
  });

  test("so does one that is dismissed among others", async () => {
    const answers = ask(["a", "b", "c", "d", "e", "f"]);
    (await next()).choose("Decide One by One");
    (await next()).choose("Run It");
    (await next()).choose(undefined);
    expect(await Promise.all(answers)).toEqual([{ decision: "allowed" }, ...Array(5).fill({})]);
  });

  test("more than fit one dialog are shown in several", async () => {
    const answers = ask(["a", "b", "c", "d", "e", "f"]);
    (await next()).choose("Run Them");
    const last = await next();
    expect(last.message).toContain("server f ");
    last.choose("Run It");
    expect(await Promise.all(answers)).toHaveLength(6);
  });
});
