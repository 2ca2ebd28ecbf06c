import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { protocolVersion } from "@assent/protocol";
import type { SidecarStatus } from "@assent/protocol/host";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { CancellationTokenSource } from "vscode-jsonrpc/node";
import { chatTurn } from "./chatTurn.ts";
import { DaemonCommand } from "./daemonCommand.ts";
import type { Sidecar, SidecarOptions } from "./sidecar.ts";
import { Recorder } from "./testing/recorder.ts";
import { reach, startSidecar } from "./testing/start.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder: string;
let command: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "assent-sidecar-"));
  command = join(folder, process.platform === "win32" ? "assent.exe" : "assent");
  vi.stubEnv("ASSENT_DAEMON_DIR", join(folder, "daemon"));
  await promisify(execFile)("go", ["build", "-o", command, "./sidecar/cmd/assent"], { cwd: root });
}, 600_000);

afterAll(async () => {
  await promisify(execFile)(command, ["daemon", "stop"]);
  vi.unstubAllEnvs();
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

  test("comes back at once, with its tasks, when the daemon is ended", async () => {
    const sidecar = startSidecar("", { ...real("ended"), timing: { firstPause: 1_000_000 } });
    await reach(sidecar, "running");
    await sidecar.request("task/create", { title: "Kept" });
    const states: SidecarStatus["state"][] = [];
    sidecar.onStatus(({ state }) => states.push(state));
    const starting = reach(sidecar, "starting");
    await new DaemonCommand(command).stop();
    await starting;
    await reach(sidecar, "running");
    expect(states).toEqual(["starting", "running"]);
    const { tasks } = await sidecar.request("task/list", undefined);
    expect(tasks?.map(({ title }) => title)).toEqual(["Kept"]);
  });

  test("forgets logins, and stays", async () => {
    const sidecar = startSidecar("", real("forgets"));
    await reach(sidecar, "running");
    expect(await sidecar.request("login/forget", undefined)).toEqual({});
    expect(sidecar.status.state).toBe("running");
  });

  test("writes a log that can be followed, from one daemon to the next", async () => {
    const daemon = new DaemonCommand(command);
    onTestFinished(() => daemon.dispose());
    const lines: string[] = [];
    let arrived = (): void => {};
    daemon.follow((line) => {
      lines.push(line);
      arrived();
    });
    const listening = async (count: number): Promise<void> => {
      const seen = () => lines.filter((line) => line.includes("the daemon listens")).length;
      while (seen() < count) await new Promise<void>((resolve) => (arrived = resolve));
    };
    const sidecar = startSidecar("", real("followed"));
    await listening(1);
    await reach(sidecar, "running");
    await daemon.stop();
    await listening(2);
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

describe("a turn in VS Code's chat", () => {
  /** A real sidecar with the demo model, and the smart database in two folders if it is given. */
  async function begin(name: string, servers: unknown = {}): Promise<Sidecar> {
    const sidecar = startSidecar("", {
      ...real(name),
      initializeParams: async () => ({
        protocolVersion,
        clientInfo: { name: "test", version: "0" },
        capabilities: { elicitation: true, sampling: true },
        configuration: { model: { provider: "demo" }, servers },
      }),
    });
    await reach(sidecar, "running");
    return sidecar;
  }
  const { token } = new CancellationTokenSource();

  /** The smart database asks the person before it answers this. */
  const question = "How many inactive users are there?";
  function database(name: string): unknown {
    const program = join(root, "scripts", "testservers", "smart-database.mjs");
    const file = join(folder, `${name}.db`);
    return { command: process.execPath, args: ["--no-warnings", program, "--database", file] };
  }

  test("streams what the model writes, and goes on in the same task", async () => {
    const sidecar = await begin("chat");
    const first = new Recorder();
    const end = await chatTurn(sidecar, { text: "Hello", taskId: undefined }, first, token);
    expect(end.reason).toBe("endTurn");
    expect(first.text).toMatch(/^This is where a language model would answer .*Hello/);
    expect(first.links).toEqual([]);

    const second = new Recorder();
    const next = await chatTurn(sidecar, { text: "And now", taskId: end.taskId }, second, token);
    expect(next).toEqual({ taskId: end.taskId, reason: "endTurn" });
    const { tasks = [] } = await sidecar.request("task/list", undefined);
    expect(tasks).toHaveLength(1);

    await sidecar.request("task/close", { taskId: end.taskId });
    const third = new Recorder();
    const other = await chatTurn(sidecar, { text: "Again", taskId: end.taskId }, third, token);
    expect(other.taskId).not.toBe(end.taskId);
    expect(third.text).toMatch(/^_This chat's task is closed/);
  });

  test("shows questions, which are answered once, in the task", async () => {
    const sidecar = await begin("asks", { database: database("asks") });
    const stream = new Recorder();
    let answered = 0;
    stream.onLink(({ taskId, messageId }) => {
      void (async () => {
        const { asks = [] } = await sidecar.request("ask/list", undefined);
        const ask = asks.find((each) => each.messageId === messageId);
        if (ask === undefined) throw new Error("the link leads to no open ask");
        const { askId } = ask;
        await sidecar.request("askResponse", { taskId, askId, askResponse: "yesButtonClicked" });
        answered++;
      })();
    });
    const prompt = { text: question, taskId: undefined };
    const end = await chatTurn(sidecar, prompt, stream, token);
    expect(end.reason).toBe("endTurn");
    await expect.poll(() => answered).toBe(1);
    expect(stream.text).toContain(
      "The model wants to run **count\\_inactive\\_users** of **database**.",
    );
    expect(stream.links.map(({ title }) => title)).toEqual(["Answer in Assent"]);
    expect(stream.lines).toContain("database runs count_inactive_users");
    expect(stream.text).toMatch(/30 of 200 users/);
  });

  test("ends where the person stops it, and its question with it", async () => {
    const sidecar = await begin("stopped", { database: database("stopped") });
    const source = new CancellationTokenSource();
    const stream = new Recorder();
    stream.onLink(() => source.cancel());
    const prompt = { text: question, taskId: undefined };
    const end = await chatTurn(sidecar, prompt, stream, source.token);
    expect(end).toMatchObject({ reason: "stopped" });
    const { asks = [] } = await sidecar.request("ask/list", undefined);
    expect(asks).toEqual([]);
  });

  test("says so where the sidecar ends in the middle", async () => {
    const sidecar = await begin("killed", { database: database("killed") });
    const stream = new Recorder();
    stream.onLink(() => sidecar.restart());
    const prompt = { text: question, taskId: undefined };
    const end = await chatTurn(sidecar, prompt, stream, token);
    expect(end).toMatchObject({
      reason: "failed",
      problem: expect.stringMatching(/Assent stopped/),
    });
  });
});
