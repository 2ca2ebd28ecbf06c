// The list of works in a package, as CycloneDX. The same works are in THIRD_PARTY_NOTICES.txt.
import type { Work } from "./notices.ts";

interface Licence {
  readonly license: { readonly id: string };
}

interface Component {
  readonly type: "application" | "library";
  readonly name: string;
  readonly version?: string;
  readonly licenses: readonly Licence[];
  readonly purl?: string;
  readonly "bom-ref"?: string;
}

/** A document of CycloneDX 1.6. It has no time and no serial number, so that two builds make the same bytes. */
export interface Sbom {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** The document of a file that a release has, with the works in it. */
export function sbomOf(file: string, version: string, works: readonly Work[]): Sbom {
  const components = works.map(component);
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": file,
        name: file,
        version,
        licenses: licences(["MIT"]),
      },
    },
    components,
    dependencies: [
      { ref: file, dependsOn: components.map((each) => each["bom-ref"] ?? each.name) },
    ],
  };
}

/** What differs between a document and the list of notices, each as a sentence. */
export function differences(sbom: Sbom, notices: string): readonly string[] {
  const listed = new Set(notices.split("\n\n")[1]?.split("\n"));
  const named = new Set(sbom.components.map(line));
  return [
    ...[...listed]
      .filter((each) => !named.has(each))
      .map((each) => `only the notices have ${each}`),
    ...[...named].filter((each) => !listed.has(each)).map((each) => `the notices lack ${each}`),
  ];
}

/** The modules that a Go program says it was linked from ("go version -m") and that a document lacks. */
export function missingModules(sbom: Sbom, buildInfo: string): readonly string[] {
  const known = new Set(sbom.components.map(({ name, version }) => `${name} ${version}`));
  const linked = [...buildInfo.matchAll(/^\s+dep\t([^\t\n]+)\t([^\t\n]+)/gm)];
  return linked.map(([, path, version]) => `${path} ${version}`).filter((each) => !known.has(each));
}

function line({ name, version, licenses }: Component): string {
  const ids = licenses.map(({ license }) => license.id).join(" AND ");
  return `${name}${version === undefined ? "" : ` ${version}`}: ${ids}`;
}

function component({ name, licences: ids, kind }: Work): Component {
  const [, plain = name, version] = /^(\S+) (\S+)$/.exec(name) ?? [];
  const shared = { type: "library", licenses: licences(ids), "bom-ref": name } as const;
  // Of a work that was copied in parts, no version is known.
  if (kind === "copied" || version === undefined) return { ...shared, name };
  const type = { npm: "npm", go: "golang", toolchain: "generic" }[kind];
  const path = plain.split("/").map(encodeURIComponent).join("/");
  const purl = `pkg:${type}/${kind === "toolchain" ? "go" : path}@${encodeURIComponent(version)}`;
  return { ...shared, name: plain, version, purl };
}

function licences(ids: readonly string[]): readonly Licence[] {
  return ids.map((id) => ({ license: { id } }));
}
