// What package managers and the registry of MCP read about a release. All of it is made from one description of the release.
import { description } from "./archives.ts";

/** A release, as the manifests need it. */
export interface Release {
  readonly version: string;
  /** The project's address, https://HOST/OWNER/NAME. */
  readonly address: string;
  /** The SHA-256 of each file that the release has, in hex, by its name. */
  readonly sums: ReadonlyMap<string, string>;
}

const owner = (address: string): string => new URL(address).pathname.split("/")[1] ?? "";

/** The name of the gateway in the registry of MCP: the owner's, by the host of the project. */
export function serverName(address: string): string {
  const host = new URL(address).hostname;
  const space = host === "github.com" ? "io.github" : host.split(".").reverse().join(".");
  return `${space}.${owner(address)}/assent`;
}

/** The manifests of a release, by their file names. */
export function manifestsOf(release: Release): ReadonlyMap<string, string> {
  return new Map([
    ["assent.rb", homebrew(release)],
    ["scoop.json", json(scoop(release))],
    ...winget(release),
    ["server.json", json(server(release))],
  ]);
}

interface Download {
  readonly url: string;
  readonly sum: string;
}

/** A file that people download from the release. */
function download({ version, address, sums }: Release, file: string): Download {
  const sum = sums.get(file);
  if (sum === undefined) throw new Error(`the release has no ${file}`);
  return { url: `${address}/releases/download/v${version}/${file}`, sum };
}

/** The npm package with the program for a target: its folder "package" has bin/assent and the notices. */
const tarball = (release: Release, target: string): Download =>
  download(release, `assent-cli-${target}-${release.version}.tgz`);

const zip = (release: Release, cpu: string): Download =>
  download(release, `assent-win32-${cpu}-${release.version}.zip`);

function homebrew(release: Release): string {
  const choice = (os: string, target: string): string => {
    const of = (cpu: string, when: string): string => {
      const { url, sum } = tarball(release, `${target}-${cpu}`);
      return `    on_${when} do\n      url "${url}"\n      sha256 "${sum}"\n    end\n`;
    };
    return `  on_${os} do\n${of("arm64", "arm")}${of("x64", "intel")}  end\n`;
  };
  return `class Assent < Formula
  desc "${description}"
  homepage "${release.address}"
  version "${release.version}"
  license "MIT"

${choice("macos", "darwin")}${choice("linux", "linux")}
  def install
    bin.install "bin/assent"
    doc.install "THIRD_PARTY_NOTICES.txt"
    generate_completions_from_executable(bin/"assent", "completion")
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/assent version").strip
  end
end
`;
}

function scoop(release: Release): object {
  const of = (cpu: string): object => {
    const { url, sum } = zip(release, cpu);
    return { url, hash: sum };
  };
  return {
    version: release.version,
    description,
    homepage: release.address,
    license: "MIT",
    architecture: { "64bit": of("x64"), arm64: of("arm64") },
    bin: "bin/assent.exe",
  };
}

function winget(release: Release): readonly (readonly [string, string])[] {
  const id = "Assent.Assent";
  const head = { PackageIdentifier: id, PackageVersion: release.version };
  const foot = (kind: string): object => ({ ManifestType: kind, ManifestVersion: "1.10.0" });
  const installer = (cpu: string): object => {
    const { url, sum } = zip(release, cpu);
    return { Architecture: cpu, InstallerUrl: url, InstallerSha256: sum.toUpperCase() };
  };
  // JSON is YAML, too.
  return [
    [`${id}.yaml`, json({ ...head, DefaultLocale: "en-US", ...foot("version") })],
    [
      `${id}.installer.yaml`,
      json({
        ...head,
        InstallerType: "zip",
        NestedInstallerType: "portable",
        NestedInstallerFiles: [
          { RelativeFilePath: "bin\\assent.exe", PortableCommandAlias: "assent" },
        ],
        Installers: [installer("x64"), installer("arm64")],
        ...foot("installer"),
      }),
    ],
    [
      `${id}.locale.en-US.yaml`,
      json({
        ...head,
        PackageLocale: "en-US",
        Publisher: owner(release.address),
        PackageName: "Assent",
        PackageUrl: release.address,
        License: "MIT",
        ShortDescription: description,
        ...foot("defaultLocale"),
      }),
    ],
  ];
}

/** The gateway, as the registry of MCP lists it. */
function server({ version, address }: Release): object {
  const { hostname } = new URL(address);
  const source = hostname.split(".").at(-2) ?? hostname;
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: serverName(address),
    description: "Your MCP servers through Assent, which asks you for what they need",
    title: "Assent",
    version,
    repository: { url: address, source },
    packages: [
      {
        registryType: "npm",
        identifier: "@assent/cli",
        version,
        transport: { type: "stdio" },
        packageArguments: [{ type: "positional", value: "gateway" }],
      },
    ],
  };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
