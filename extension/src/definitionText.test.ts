import type { ServerDefinition } from "@assent/protocol";
import { expect, test } from "vitest";
import { definitionText } from "./definitionText.ts";

const definition: ServerDefinition = {
  transport: "stdio",
  command: "npx",
  args: ["-y", "x y"],
  cwd: "/ws",
  envNames: ["A", "B"],
};
const params = { serverName: "s", source: "/ws/.vscode/mcp.json", line: 3, definition };

test("shows all that would run, and where it is configured", () => {
  expect(definitionText(params)).toBe(
    [
      "Transport: stdio",
      "Command: npx",
      'Arguments: ["-y","x y"]',
      "Folder: /ws",
      "Environment: A, B",
      "",
      "It is configured in /ws/.vscode/mcp.json:3.",
    ].join("\n"),
  );
});

test("says what each line was before", () => {
  const earlier: ServerDefinition = { ...definition, args: ["-y x", "y"], envFile: ".env" };
  const text = definitionText({ ...params, earlier });
  expect(text).toContain('Arguments: ["-y","x y"]\n    before: ["-y x","y"]');
  expect(text).toContain("Environment file: removed\n    before: .env");
  expect(text).not.toContain("not shown");
});

test("says that a value changed that is not shown", () => {
  expect(definitionText({ ...params, earlier: definition })).toContain(
    "A hidden value has changed",
  );
});

test("says which folder a server of the person's own would use", () => {
  expect(definitionText({ ...params, folder: "/ws" })).toContain(
    "It is a server of your own that would use files of the folder /ws.",
  );
});
