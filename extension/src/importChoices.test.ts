import type { FindImportsResult } from "@assent/protocol";
import { describe, expect, test } from "vitest";
import {
  commandOf,
  type ImportChoice,
  importLines,
  importProblems,
  nothingToImport,
  previewOf,
  withoutTwins,
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

const choices = importLines(found).filter(
  (line): line is { kind: "server" } & ImportChoice => line.kind === "server",
);

describe("the list", () => {
  test("has every file with something new, and what is known cannot be chosen", () => {
    const lines = importLines(found).map((line) =>
      line.kind === "heading" ? line.label : [line.path, line.name],
    );
    expect(lines).toEqual([
      "Claude Desktop: /home/me/claude.json (configured already: git)",
      ["/home/me/claude.json", "files"],
      ["/home/me/claude.json", "mail"],
      "Zed: /home/me/zed.json",
      ["/home/me/zed.json", "files"],
    ]);
    expect(importProblems(found)).toEqual(["Cursor: /ws/.cursor/mcp.json: Line 3 is no JSON."]);
  });

  test("that is empty says why", () => {
    expect(nothingToImport({})).toMatch(/^No other program/);
    const [source] = found.sources?.slice(2) ?? [];
    const known = source === undefined ? {} : { sources: [source] };
    expect(importLines(known)).toEqual([]);
    expect(nothingToImport(known)).toMatch(/configured already/);
  });
});

test("of two servers of one name, the one that was chosen last stays", () => {
  const [files, mail, twin] = choices;
  if (files === undefined || mail === undefined || twin === undefined) throw new Error("too few");
  expect(withoutTwins([], [files, mail])).toEqual([files, mail]);
  expect(withoutTwins([files, mail], [files, mail, twin])).toEqual([mail, twin]);
  expect(withoutTwins([mail, twin], [files, mail, twin])).toEqual([files, mail]);
  // All at once.
  expect(withoutTwins([], [files, mail, twin])).toEqual([mail, twin]);
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
  const warned = { ...mail.server, warnings: ['Bad:\n{"servers": {}}\r//'] };
  const preview = previewOf([files, { ...mail, server: warned }], "/ws/.vscode/mcp.json");
  expect(preview).toBe(`// This will be added to /ws/.vscode/mcp.json. Nothing is written yet.
//
// mail, of Claude Desktop: Bad: {"servers": {}} //
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
