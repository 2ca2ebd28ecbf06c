import type { FindImportsResult } from "@assent/protocol";
import { describe, expect, test } from "vitest";
import {
  commandOf,
  detailOf,
  hasNews,
  type ImportChoice,
  importable,
  importLines,
  importProblems,
  importQuestion,
  nothingToImport,
  previewOf,
} from "./importChoices.ts";

const found: FindImportsResult = {
  sources: [
    {
      program: "Claude Desktop",
      path: "/home/me/claude.json",
      servers: [
        { name: "files", entry: { command: "npx", args: ["-y", "files"] } },
        { name: "git", entry: { command: "git-mcp" }, known: true },
        { name: "mail", entry: { url: "https://mail.example/mcp" }, warnings: ["Has a secret."] },
      ],
    },
    { program: "Cursor", path: "/ws/.cursor/mcp.json", problem: "Line 3 is no JSON." },
    {
      program: "Windsurf",
      path: "/home/me/windsurf.json",
      servers: [{ name: "git", entry: { command: "git-mcp" }, known: true }],
    },
    {
      program: "Zed",
      path: "/home/me/zed.json",
      servers: [{ name: "files", entry: { command: "files" } }],
    },
  ],
};

const choices = importLines(found, "/home/me").filter(
  (line): line is { kind: "server" } & ImportChoice => line.kind === "server",
);

describe("the list", () => {
  test("lists new servers by file, known servers in its question, and unreadable files", () => {
    const lines = importLines(found, "/home/me").map((line) =>
      line.kind === "heading" ? line.label : [line.path, line.name],
    );
    expect(lines).toEqual([
      "Claude Desktop: ~/claude.json",
      ["/home/me/claude.json", "files"],
      ["/home/me/claude.json", "mail"],
      "Zed: ~/zed.json",
      ["/home/me/zed.json", "files"],
    ]);
    expect(importQuestion(found)).toBe("Which servers should be copied? Already configured: git");
    expect(importQuestion({})).toBe("Which servers should be copied?");
    expect(importProblems(found)).toEqual(["Cursor: /ws/.cursor/mcp.json: Line 3 is no JSON."]);
  });

  test("that has nothing new says why", () => {
    expect(hasNews(found)).toBe(true);
    expect(hasNews({})).toBe(false);
    expect(nothingToImport({})).toMatch(/^Assent found no MCP servers/);
    const [source] = found.sources?.slice(2) ?? [];
    const known = source === undefined ? {} : { sources: [source] };
    expect(hasNews(known)).toBe(false);
    expect(nothingToImport(known)).toMatch(/already configured/);
  });

  test("warns in a line that is not cut, and leaves the rest to the preview", () => {
    const [files, mail] = choices;
    if (files === undefined || mail === undefined) throw new Error("too few");
    const warned = (...warnings: string[]) =>
      detailOf({ ...mail, server: { ...mail.server, warnings } });
    expect(detailOf(files)).toBeUndefined();
    expect(warned("It has a secret: keep the\nfile out of version control.")).toBe(
      "⚠ It has a secret",
    );
    expect(warned("It has a secret; beware.", "It is off.")).toBe("⚠ It has a secret (and 1 more)");
  });
});

test("of two of one name the one that was chosen last stays", () => {
  const [files, mail, twin] = choices;
  if (files === undefined || mail === undefined || twin === undefined) throw new Error("too few");
  expect(importable([], [files, mail])).toEqual([files, mail]);
  expect(importable([files, mail], [files, mail, twin])).toEqual([mail, twin]);
  expect(importable([mail, twin], [files, mail, twin])).toEqual([files, mail]);
  // All at once.
  expect(importable([], choices)).toEqual([mail, twin]);
});

test.for([
  [{ command: "npx", args: ["-y", "files"] }, "npx -y files"],
  [{ url: "https://mail.example/mcp" }, "https://mail.example/mcp"],
  [{ command: "sh", args: ["-c", "a\n\u2028b"] }, "sh -c a b"],
  [{ args: "odd" }, ""],
  ["odd", ""],
  [null, ""],
] as const)("%j is told as %s", ([entry, want]) => {
  expect(commandOf({ name: "x", entry })).toBe(want);
});

test("the preview is what will be written, and nothing in it can pass for something else", () => {
  const [files, mail] = choices;
  if (files === undefined || mail === undefined) throw new Error("too few");
  const warned = {
    ...mail.server,
    warnings: ['Bad:\n{"servers": {}}\r// and more words than fit into one line'],
  };
  const preview = previewOf([files, { ...mail, server: warned }], "/ws/.vscode/mcp.json");
  expect(preview).toBe(`// Nothing has been written yet.
//
// This text will be added to
// /ws/.vscode/mcp.json
//
// ⚠ mail, of Claude Desktop: Bad: {"servers": {}} // and more words than
// fit into one line
//

{
  "servers": {
    "files": {
      "command": "npx",
      "args": [
        "-y",
        "files"
      ]
    },
    "mail": {
      "url": "https://mail.example/mcp"
    }
  }
}
`);
});
