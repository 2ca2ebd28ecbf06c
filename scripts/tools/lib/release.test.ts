import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { addressIn, repositoryMember } from "./address.ts";
import { output } from "./command.ts";
import { manifestsOf, serverName } from "./manifests.ts";
import { noticesText, type Work } from "./notices.ts";
import { differences, missingModules, sbomOf } from "./sbom.ts";
import { allTargets } from "./vsix.ts";

const address = "https://github.com/acme/assent";

describe("the address", () => {
  test.each([
    [{}, undefined],
    [{ repository: address }, address],
    [{ repository: { url: `git+${address}.git` } }, address],
    [
      { repository: { url: "https://git.example.org/acme/assent" } },
      "https://git.example.org/acme/assent",
    ],
  ])("of %j is %s", (manifest, want) => {
    expect(addressIn(manifest)).toBe(want);
  });

  test.each(["acme/assent", "git@github.com:acme/assent.git", "http://github.com/acme/assent", ""])(
    "cannot be %j",
    (repository) => {
      expect(() => addressIn({ repository })).toThrow(/write https:\/\/HOST\/OWNER\/NAME/);
    },
  );

  test("is in the packages only if there is one", () => {
    expect(repositoryMember(undefined)).toEqual({});
    expect(repositoryMember(address)).toEqual({
      repository: { type: "git", url: `git+${address}.git` },
    });
  });
});

describe("the list of works", () => {
  const works: readonly Work[] = [
    { name: "Go go1.26.3", kind: "toolchain", licences: ["BSD-3-Clause"], texts: ["a"] },
    { name: "@vscode/l10n 0.0.18", kind: "npm", licences: ["MIT"], texts: ["b"] },
    { name: "github.com/google/uuid v1.6.0", kind: "go", licences: ["BSD-3-Clause"], texts: ["c"] },
    { name: "gitleaks (parts)", kind: "copied", licences: ["MIT"], texts: ["d"] },
    { name: "x 1", kind: "npm", licences: ["MIT", "Apache-2.0"], texts: ["e"] },
  ];
  const sbom = sbomOf("assent.vsix", "0.2.0", works);

  test("has the name, version, licence and address of each", () => {
    expect(sbom.components.map(({ name, purl }) => [name, purl])).toEqual([
      ["Go", "pkg:generic/go@go1.26.3"],
      ["@vscode/l10n", "pkg:npm/%40vscode/l10n@0.0.18"],
      ["github.com/google/uuid", "pkg:golang/github.com/google/uuid@v1.6.0"],
      ["gitleaks (parts)", undefined],
      ["x", "pkg:npm/x@1"],
    ]);
    expect(sbom.components.at(-1)?.licenses).toEqual([
      { license: { id: "MIT" } },
      { license: { id: "Apache-2.0" } },
    ]);
    expect(sbom.dependencies[0]?.dependsOn).toHaveLength(works.length);
    expect(new Set(sbom.components.map((each) => each["bom-ref"])).size).toBe(works.length);
  });

  test("has the works that the notices have, and no other", () => {
    expect(differences(sbom, noticesText(works))).toEqual([]);
    const [first, ...rest] = works;
    expect(differences(sbom, noticesText(rest))).toEqual([
      `the notices lack ${first?.name}: BSD-3-Clause`,
    ]);
    expect(differences(sbomOf("a", "1", rest), noticesText(works))).toEqual([
      `only the notices have ${first?.name}: BSD-3-Clause`,
    ]);
    const changed = works.map((work) => ({ ...work, licences: ["ISC"] }));
    expect(differences(sbom, noticesText(changed))).not.toEqual([]);
  });

  test("has the modules that the program says it is made of", () => {
    const info = (version: string): string =>
      `assent: go1.26.3\n\tpath\tassent/sidecar/cmd/assent\n\tdep\tgithub.com/google/uuid\t${version}\th1:abc=\n`;
    expect(missingModules(sbom, info("v1.6.0"))).toEqual([]);
    expect(missingModules(sbom, info("v1.7.0"))).toEqual(["github.com/google/uuid v1.7.0"]);
  });
});

describe("the manifests of a release", () => {
  const names = allTargets.map((target) =>
    target.startsWith("win32") ? `assent-${target}-0.2.0.zip` : `assent-cli-${target}-0.2.0.tgz`,
  );
  const sums = new Map(names.map((name, at) => [name, at.toString(16).padStart(64, "0")]));
  const manifests = manifestsOf({ version: "0.2.0", address, sums });

  test("name each file with its sum, for the platform that it is for", () => {
    const text = [...manifests.values()].join("\n").toLowerCase();
    for (const name of names) {
      expect(text).toContain(`${address}/releases/download/v0.2.0/${name}`);
      expect(text).toContain(sums.get(name));
    }
    const brew = manifests.get("assent.rb") ?? "";
    expect(brew).toMatch(/on_macos do\s+on_arm do\s+url ".*darwin-arm64.*"/);
    expect(brew).toMatch(/on_linux do[\s\S]*on_intel do\s+url ".*linux-x64.*"/);
  });

  test("can be read by what reads them", () => {
    for (const [name, text] of manifests) {
      if (name.endsWith(".json")) expect(() => JSON.parse(text)).not.toThrow();
      if (name.endsWith(".yaml")) expect(parse(text)).toMatchObject({ PackageVersion: "0.2.0" });
    }
    expect(JSON.parse(manifests.get("server.json") ?? "")).toMatchObject({
      name: "io.github.acme/assent",
      version: "0.2.0",
      packages: [{ registryType: "npm", identifier: "@assent/cli", transport: { type: "stdio" } }],
    });
    expect(serverName("https://git.example.org/acme/assent")).toBe("org.example.git.acme/assent");
  });

  test("have a server.json that the registry of MCP accepts", async () => {
    const registry = "github.com/modelcontextprotocol/registry@v1.8.9";
    const { Dir } = JSON.parse(await output("go", ["mod", "download", "-json", registry])) as {
      readonly Dir: string;
    };
    const server = JSON.parse(manifests.get("server.json") ?? "");
    const [, revision] = /schemas\/([\d-]+)\//.exec(server.$schema) ?? [];
    const schema = await readFile(
      join(Dir, `internal/validators/schemas/${revision}.json`),
      "utf8",
    );
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const validate = ajv.compile(JSON.parse(schema));
    expect([validate(server), validate.errors]).toEqual([true, null]);
    expect(validate({ ...server, name: "no slash" })).toBe(false);
  });

  test("are not made if a file is missing", () => {
    sums.delete("assent-cli-darwin-arm64-0.2.0.tgz");
    expect(() => manifestsOf({ version: "0.2.0", address, sums })).toThrow(
      /has no assent-cli-darwin-arm64/,
    );
  });
});
