import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const folder = import.meta.dirname;
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
const code = files
  .filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."))
  .map(read)
  .join("\n");

/** Classes that libraries and VS Code give to elements. */
const ofOthers = /^(codicon|hljs|vscode)(-|$)|^contains-task-list$/;

/** Reports whether the code has a class, as a word of a text or as the beginning of a template. */
function isUsed(name: string): boolean {
  if (new RegExp(`["'\`\\s]${name}["'\`\\s]`).test(code)) return true;
  const dash = name.lastIndexOf("-");
  return dash > 0 && code.includes(`${name.slice(0, dash + 1)}\${`);
}

test("the stylesheets have no class that no element has, and each of them is loaded", () => {
  const sheets = files.filter((name) => name.endsWith(".css"));
  expect(
    sheets.filter((name) => !code.includes(`import "./${name.replaceAll("\\", "/")}"`)),
  ).toEqual([]);
  const names = sheets.flatMap((name) =>
    [
      ...read(name)
        .replace(/\/\*[\s\S]*?\*\//g, "")
        .matchAll(/\.([a-z][\w-]*)/gi),
    ].map(([, found]) => found ?? ""),
  );
  const unused = new Set(names.filter((name) => !ofOthers.test(name) && !isUsed(name)));
  expect([...unused]).toEqual([]);
});
