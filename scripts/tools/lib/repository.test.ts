// The files that GitHub reads: workflows, forms and lists of folders. Nothing of it runs here, so rules hold it.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { knownNames, unknownNames } from "./documentNames.ts";
import { root } from "./paths.ts";
import { version } from "./version.ts";
import { faultsOf, type Workflow } from "./workflows.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
const steps = [...read("scripts/tools/test.ts").matchAll(/^ {2}(\w+): (?:\{|story\()/gm)].map(
  ([, name = ""]) => name,
);
const known = {
  scripts: Object.keys(scripts),
  steps,
  exists: (path: string) => existsSync(join(root, path)),
};

describe("a workflow", () => {
  test.each(filesIn(".github/workflows"))("%s keeps the rules", (file) => {
    expect(faultsOf(read(file), known)).toEqual([]);
  });

  const good: Workflow = {
    on: { push: {} },
    permissions: { contents: "read" },
    jobs: {
      a: {
        "timeout-minutes": 5,
        steps: [{ run: "npm test -- --only lint" }, { run: "npm run build" }],
      },
    },
  };
  const withStep = (step: object): object => ({
    ...good,
    jobs: { a: { "timeout-minutes": 5, steps: [step] } },
  });
  const hex = "0123456789".repeat(4);
  test.each<[string, object, RegExp]>([
    ["has no permissions", { ...good, permissions: undefined }, /no permissions at the top/],
    ["lets all jobs write", { ...good, permissions: { contents: "write" } }, /contents: write/],
    ["lets all jobs do everything", { ...good, permissions: "write-all" }, /write-all/],
    [
      "runs a stranger's code with secrets",
      { ...good, on: { pull_request_target: {} } },
      /pull_request_target/,
    ],
    ["runs it, in a list", { ...good, on: ["pull_request_target"] }, /pull_request_target/],
    ["names an action by a tag", withStep({ uses: "a/b@v4" }), /a\/b@v4 is not pinned/],
    ["names one by a branch", withStep({ uses: "a/b@main" }), /not pinned/],
    ["names one by a short digest", withStep({ uses: "a/b@0123456" }), /not pinned/],
    [
      "does not say which version a digest is",
      withStep({ uses: `a/b@${hex}` }),
      /no version behind/,
    ],
    ["calls no script of ours", withStep({ run: "npm run biuld" }), /npm run biuld/],
    ["runs no step of the tests", withStep({ run: "npm test -- --only go,lnit" }), /step lnit/],
    ["runs a file that is gone", withStep({ run: "node scripts/gone.mjs" }), /scripts\/gone\.mjs/],
    [
      "puts an event's text into a shell",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: GitHub replaces it.
      withStep({ run: "echo ${{ github.event.issue.title }}" }),
      /github\.event/,
    ],
    ["waits for good", { ...good, jobs: { a: { steps: [] } } }, /timeout-minutes/],
    ["is no YAML", { toString: () => "a: [" }, /./],
  ])("that %s is found", (_, workflow, fault) => {
    const text = Object.hasOwn(workflow, "toString") ? String(workflow) : JSON.stringify(workflow);
    expect(faultsOf(text, known).join("\n")).toMatch(fault);
    expect(faultsOf(JSON.stringify(good), known)).toEqual([]);
  });
});

describe("the files for people", () => {
  test("are in their usual places", () => {
    const usual = ["SECURITY.md", "LICENSE", "CONTRIBUTING.md", ".devcontainer/devcontainer.json"];
    const ofGitHub = [
      "CODEOWNERS",
      "CODE_OF_CONDUCT.md",
      "SUPPORT.md",
      "PULL_REQUEST_TEMPLATE.md",
      "dependabot.yml",
    ];
    const all = [...usual, ...ofGitHub.map((name) => `.github/${name}`)];
    expect(all.filter((file) => !known.exists(file))).toEqual([]);
  });

  test("have forms with a name, and fields with an id and a label", () => {
    for (const file of filesIn(".github/ISSUE_TEMPLATE").filter(
      (name) => !name.endsWith("config.yml"),
    )) {
      const form = parse(read(file)) as {
        name?: string;
        description?: string;
        body: { type: string; id?: string; attributes: { label?: string } }[];
      };
      expect(form, file).toMatchObject({
        name: expect.any(String),
        description: expect.any(String),
      });
      const fields = form.body.filter(({ type }) => type !== "markdown");
      expect(fields.filter(({ id, attributes }) => !id || !attributes.label)).toEqual([]);
      expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
    }
  });

  test("name commands that exist", async () => {
    const names = await knownNames();
    for (const file of filesIn(".github/ISSUE_TEMPLATE")) {
      expect(unknownNames(read(file), names), file).toEqual([]);
    }
  });

  test("have a digest for every package, also for one of another platform", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as {
      packages: Record<string, { integrity?: string; link?: boolean }>;
    };
    const others = Object.entries(packages).filter(
      ([path, { link }]) => path.includes("node_modules/") && link !== true,
    );
    expect(others.length).toBeGreaterThan(500);
    expect(others.filter(([, { integrity }]) => !integrity?.startsWith("sha512-"))).toEqual([]);
  });

  test("have updates for every list of dependencies", () => {
    const { updates } = parse(read(".github/dependabot.yml")) as {
      updates: { "package-ecosystem": string; directory?: string; directories?: string[] }[];
    };
    const folders = (ecosystem: string): readonly string[] =>
      updates
        .filter((update) => update["package-ecosystem"] === ecosystem)
        .flatMap(({ directory, directories }) => directories ?? directory ?? []);
    const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
    const having = (name: string): readonly string[] =>
      tracked
        .filter((file) => file === name || file.endsWith(`/${name}`))
        .map((file) => `/${file.slice(0, -name.length - 1)}`)
        .sort();
    expect(folders("gomod").toSorted()).toEqual(having("go.mod"));
    expect(folders("npm").toSorted()).toEqual(having("package-lock.json"));
    expect(folders("github-actions")).toEqual(["/"]);
  });

  test("list the changes of the version that the extension has", () => {
    const versions = [...read("CHANGELOG.md").matchAll(/^## (.+)$/gm)].map(([, name]) => name);
    expect(versions[0]).toBe(version);
    expect(versions.filter((name) => !/^\d+\.\d+\.\d+$/.test(name ?? ""))).toEqual([]);
  });
});
