import { mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ProgramLink } from "./programLink.ts";

let home: string;
let program: string;
let link: ProgramLink;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "assent-link-"));
  program = join(home, "extensions", "assent.assent-0.2.0", "bin", "assent");
  await mkdir(dirname(program), { recursive: true });
  await writeFile(program, "new");
  link = new ProgramLink(program, home, {}, "linux");
});

afterEach(() => rm(home, { recursive: true }));

async function at(target: string): Promise<void> {
  await mkdir(dirname(link.path), { recursive: true });
  await symlink(target, link.path);
}

describe("a link to the program", () => {
  test("is set where there is none", async () => {
    expect(await link.state()).toBe("absent");
    await link.set();
    expect(await link.state()).toBe("ours");
    expect(await readFile(link.path, "utf8")).toBe("new");
  });

  test("of an earlier version leads to this version", async () => {
    await at(join(home, "extensions", "assent.assent-0.1.0", "bin", "assent")); // which is gone
    await link.refresh();
    expect(await readlink(link.path)).toBe(program);
  });

  test("is not made by a refresh", async () => {
    await link.refresh();
    expect(await link.state()).toBe("absent");
  });

  test("of the person's own stays", async () => {
    await at("/usr/bin/assent");
    await link.refresh();
    expect(await link.state()).toBe("other");
    expect(await readlink(link.path)).toBe("/usr/bin/assent");
  });

  test("does not replace a file", async () => {
    await mkdir(dirname(link.path), { recursive: true });
    await writeFile(link.path, "own");
    await link.refresh();
    expect(await link.state()).toBe("other");
    expect(await readFile(link.path, "utf8")).toBe("own");
  });

  test("is a copy on Windows, which a refresh renews", async () => {
    const environment = { LOCALAPPDATA: join(home, "Local") };
    const copy = new ProgramLink(program, home, environment, "win32");
    await copy.set();
    await writeFile(program, "newer");
    await copy.refresh();
    expect(await readFile(copy.path, "utf8")).toBe("newer");
  });
});
