import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { protocolVersion } from "@assent/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SidecarOptions } from "./sidecar.ts";
import { reach, startSidecar } from "./testing/start.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder: string;
let command: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "assent-sidecar-"));
  command = join(folder, process.platform === "win32" ? "assent.exe" : "assent");
  await promisify(execFile)("go", ["build", "-o", command, "./sidecar"], { cwd: root });
}, 600_000);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** The real program, with its tasks in a folder of the test's own. */
function real(name: string): Partial<SidecarOptions> {
  return { command, args: () => ["serve", "--data-dir", join(folder, name)] };
}

describe("the real sidecar", () => {
  test("shakes hands, and keeps its tasks when it is started again", async () => {
    const sidecar = startSidecar("", real("kept"));
    await reach(sidecar, "running");
    const task = await sidecar.request("task/create", { title: "Kept" });
    const starting = reach(sidecar, "starting");
    sidecar.restart();
    await starting;
    await reach(sidecar, "running");
    const { tasks } = await sidecar.request("task/list", undefined);
    expect(tasks?.map(({ id, title }) => ({ id, title }))).toEqual([
      { id: task.id, title: "Kept" },
    ]);
  });

  test("says which side to update where the versions differ", async () => {
    const sidecar = startSidecar("", {
      ...real("mismatch"),
      initializeParams: async () => ({
        protocolVersion: protocolVersion + 1,
        clientInfo: { name: "test", version: "0" },
        capabilities: {},
        configuration: { model: {} },
      }),
    });
    const { reason } = await reach(sidecar, "failed");
    expect(reason).toMatch(/update/i);
  });
});
