import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knownNames, unknownNames } from "./documentNames.ts";
import {
  brokenLinks,
  filesOf,
  headingsIn,
  linksIn,
  reachableFrom,
  readmeOfPackage,
  wideLines,
} from "./documents.ts";
import { root } from "./paths.ts";

const read = filesOf(root);

async function documents(): Promise<readonly string[]> {
  const isDocument = (name: string): boolean => name.endsWith(".md");
  const within = async (folder: string): Promise<readonly string[]> =>
    (await readdir(join(root, folder), { recursive: true })).map((name) => `${folder}/${name}`);
  const [top, ...below] = await Promise.all([readdir(root), ...["docs", ".github"].map(within)]);
  return [...top, ...below.flat()].filter(isDocument);
}

describe("the documents", () => {
  test("have links and pictures that are there", async () => {
    expect(await brokenLinks(await documents(), read)).toEqual([]);
  });

  test("are all reached from the README, except the list of changes", async () => {
    const reached = await reachableFrom("README.md", read);
    const missed = (await documents()).filter((name) => !reached.includes(name));
    // GitHub links to its own.
    expect(missed.filter((name) => !name.startsWith(".github/"))).toEqual(["CHANGELOG.md"]);
  });

  test("begin with a page that is read in a few minutes", async () => {
    const words = (await read("README.md"))
      .split(/\s+/)
      .filter((word) => /[\p{L}\p{N}]/u.test(word));
    expect(words.length).toBeLessThanOrEqual(700);
  });

  test("have an architecture that is read in ten minutes", async () => {
    expect((await read("ARCHITECTURE.md")).length).toBeLessThanOrEqual(10_000);
  });

  test("wrap at 120 columns", async () => {
    const wide: string[] = [];
    for (const name of await documents()) wide.push(...wideLines(await read(name), name));
    expect(wide).toEqual([]);
  });

  test("name commands, settings, files and identifiers that exist", async () => {
    const known = await knownNames();
    const unknown: string[] = [];
    for (const name of await documents()) {
      if (name === "CHANGELOG.md") continue; // Its old entries name removed things.
      unknown.push(...unknownNames(await read(name), known).map((text) => `${name}: ${text}`));
    }
    expect(unknown).toEqual([]);
  });

  test("say on that page how the tests run, as CI runs them", async () => {
    const ci = await readFile(join(root, ".ci", "run"), "utf8");
    const [command = ""] = /^exec (.*)$/m.exec(ci)?.slice(1) ?? [];
    expect(await read("README.md")).toMatch(new RegExp(`^${command}\\b`, "m"));
  });
});

describe("the README of the package", () => {
  test("has no picture and no link that VS Code's page could not show", async () => {
    const readme = readmeOfPackage(await read("README.md"));
    expect(linksIn(readme, "README.md")).toEqual([]);
    expect(readme).toContain("**Assent: Get Started…** shows this with pictures.");
    expect(readme).toContain("The guide: all features, commands and settings.");
  });

  test("keeps links to the web and to its own headings", () => {
    const text = "[web](https://example.com), [here](#own), ![shown](https://example.com/a.png)";
    expect(readmeOfPackage(text)).toBe(text);
  });
});

describe("a name", () => {
  const known = {
    commands: new Set(["Assent: Show Log"]),
    settings: new Set(["assent.limits"]),
    shellCommands: new Set(["call"]),
    files: ["sidecar/task/ask/ask.go"],
    words: new Set(["ask", "Asks", "Answer", "32601"]),
  };

  test.each([
    "**Assent: Show Log**",
    "`assent.limits.maxOpen`",
    "`assent call`",
    "`ask/ask.go`",
    "`ask.Asks.Answer`",
    "error -32601",
  ])("%s is known", (text) => {
    expect(unknownNames(text, known)).toEqual([]);
  });

  test.each([
    ["**Assent: Hide Log**", "Assent: Hide Log"],
    ["`assent.limit`", "assent.limit"],
    ["`assent cal`", "assent cal"],
    ["`ask/task.go`", "ask/task.go"],
    ["`ask.Asks.Settle`", "ask.Asks.Settle"],
    ["error -32699", "-32699"],
  ])("%s is not", (text, name) => {
    expect(unknownNames(text, known)).toEqual([name]);
  });
});

describe("a wide line", () => {
  const wide = "word ".repeat(30);

  test("is found in prose", () => {
    expect(wideLines(`# a\n\n${wide}\n`, "a.md")).toEqual(["a.md:3"]);
  });

  test("may be in a table, in code, or one long address", () => {
    const text = `| ${wide} |\n\`\`\`\n${wide}\n\`\`\`\n[a](https://example.com/${"a".repeat(120)})\n`;
    expect(wideLines(text, "a.md")).toEqual([]);
  });
});

describe("a link", () => {
  const text = [
    "[one](other.md#a-head) and ![two](../picture.png), <img src='x'>",
    '<img alt="" src="three.webp">, [web](https://example.com) `[code](none.md)`',
    "```sh\n[fence](none.md)\n```",
    "[here](#own)",
  ].join("\n");

  test("is found in prose, with its path from the root", () => {
    expect(linksIn(text, "docs/a.md")).toEqual([
      { path: "docs/other.md", heading: "a-head" },
      { path: "picture.png" },
      { path: "docs/a.md", heading: "own" },
      { path: "docs/three.webp" },
    ]);
  });

  test("is broken without its file or its heading", async () => {
    const files: Record<string, string> = {
      "a.md": "[x](b.md#one-two) [y](b.md#no) [z](c.md)",
      "b.md": "## One, two",
    };
    const reading = async (path: string): Promise<string> => {
      const found = files[path];
      if (found === undefined) throw new Error(`there is no ${path}`);
      return found;
    };
    expect(await brokenLinks(["a.md"], reading)).toEqual(["a.md: b.md#no", "a.md: c.md"]);
    expect(headingsIn("# `mcp.json`: one & two\n```\n# no\n```")).toEqual(["mcpjson-one--two"]);
  });
});
