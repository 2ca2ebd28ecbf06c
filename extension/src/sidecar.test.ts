import { closeTimeoutMs, ErrorCode } from "@assent/protocol";
import type { SidecarStatus } from "@assent/protocol/host";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { CancellationTokenSource, ResponseError } from "vscode-jsonrpc/node";
import type { Sidecar } from "./sidecar.ts";
import { fake, introduction, nextNotification, reach, startSidecar } from "./testing/start.ts";

describe("a sidecar that works", () => {
  test("answers requests, and takes requests without params", async () => {
    const sidecar = startSidecar("works");
    await reach(sidecar, "running");
    expect(await sidecar.forward("test/echo", { a: [1, null] })).toEqual({ a: [1, null] });
    expect(await sidecar.forward("test/echo", undefined)).toBeNull();
  });

  test("keeps the code, the message and the data of an error", async () => {
    const sidecar = startSidecar("works");
    await reach(sidecar, "running");
    await expect(sidecar.forward("test/fail", {})).rejects.toMatchObject({
      code: ErrorCode.AskSettled,
      message: "Somebody was first.",
      data: { by: "terminal" },
    });
  });

  test("is told of a cancellation", async () => {
    const sidecar = startSidecar("works");
    await reach(sidecar, "running");
    const source = new CancellationTokenSource();
    const waiting = nextNotification(sidecar, "test/waiting");
    const request = sidecar.forward("test/untilCancelled", {}, source.token);
    await waiting;
    source.cancel();
    await expect(request).rejects.toMatchObject({ code: ErrorCode.RequestCancelled });
  });

  test("handles its own requests, and refuses them without a handler", async () => {
    const sidecar = startSidecar("works", {
      handlers: { "input/prompt": ({ id }) => ({ value: { secret: `for ${id}` } }) },
    });
    await reach(sidecar, "running");
    const answer = await sidecar.forward("test/callEditor", { id: "token" });
    expect(answer).toEqual({ value: { secret: "for token" } });

    const other = startSidecar("works");
    await reach(other, "running");
    await expect(other.forward("test/callEditor", {})).rejects.toMatchObject({
      code: ErrorCode.MethodNotFound,
    });
  });

  test("hands over the lines of its stderr", async () => {
    const lines: string[] = [];
    const sidecar = startSidecar("works", { log: (line) => lines.push(line) });
    await reach(sidecar, "running");
    await expect
      .poll(() => lines)
      .toEqual([expect.stringMatching(/^{"level":"info","mode":"works",/)]);
  });

  test("ends when it is stopped, and answers no more", async () => {
    const sidecar = startSidecar("works");
    await reach(sidecar, "running");
    await sidecar.stop();
    await expect(sidecar.forward("test/echo", {})).rejects.toMatchObject({
      code: ErrorCode.Unavailable,
    });
  });
});

describe("a sidecar that crashes", () => {
  test("fails unanswered requests, and is restarted", async () => {
    const sidecar = startSidecar("works");
    await reach(sidecar, "running");
    const restarting = reach(sidecar, "restarting");
    const lost = sidecar.forward("test/crash", {});
    await expect(lost).rejects.toBeInstanceOf(ResponseError);
    await expect(lost).rejects.toMatchObject({ code: ErrorCode.Unavailable });
    expect((await restarting).reason).toBe("It ended with exit code 7.");
    await reach(sidecar, "running");
    expect(await sidecar.forward("test/echo", { again: true })).toEqual({ again: true });
  });

  test("is started again at once if its daemon ended, and after a pause the next time", async () => {
    const seen: SidecarStatus["state"][] = [];
    const sidecar = startSidecar("works");
    await reach(sidecar, "running");
    sidecar.onStatus(({ state }) => seen.push(state));
    for (const last of ["running", "restarting"] as const) {
      const starting = reach(sidecar, last === "running" ? "starting" : "restarting");
      await expect(sidecar.forward("test/loseDaemon", {})).rejects.toMatchObject({
        code: ErrorCode.Unavailable,
      });
      await starting;
      await reach(sidecar, "running");
    }
    expect(seen).toEqual(["starting", "running", "restarting", "starting", "running"]);
  });

  test("is started again after pauses that grow up to a limit", async () => {
    const pauses: number[] = [];
    const sidecar = startSidecar("dies");
    await new Promise<void>((resolve) => {
      sidecar.onStatus((status) => {
        if (status.state === "restarting") pauses.push(status.retryInMs);
        if (pauses.length === 5) resolve();
      });
    });
    expect(pauses).toEqual([10, 20, 40, 80, 80]);
  });

  test("has its crashes forgiven after it ran for a while", async () => {
    const pauses: number[] = [];
    const sidecar = startSidecar("dies", { timing: { firstPause: 10, steady: 0 } });
    await new Promise<void>((resolve) => {
      sidecar.onStatus((status) => {
        if (status.state === "restarting") pauses.push(status.retryInMs);
        if (pauses.length === 3) resolve();
      });
    });
    expect(pauses).toEqual([10, 10, 10]);
  });

  test("before the handshake reaches it is started again", async () => {
    let resolve = () => {};
    const closed = new Promise<void>((resolved) => {
      resolve = resolved;
    });
    const sidecar = startSidecar("unplugged", {
      log: () => resolve(),
      initializeParams: async () => {
        await closed;
        return introduction;
      },
    });
    const { reason } = await reach(sidecar, "restarting");
    expect(reason).toBe("It was killed by SIGKILL.");
  });

  test("restarts at once on request", async () => {
    const sidecar = startSidecar("dies", { timing: { firstPause: 1_000_000 } });
    await reach(sidecar, "restarting");
    const starting = reach(sidecar, "starting");
    sidecar.restart();
    await starting;
  });

  test("is started again after it wrote something else than the protocol", async () => {
    const sidecar = startSidecar("garbage");
    const { reason } = await reach(sidecar, "restarting");
    expect(reason).toMatch(/^It wrote invalid output: /);
  });
});

test("a sidecar that says why it ends is quoted", async () => {
  const sidecar = startSidecar("hangs");
  expect((await reach(sidecar, "restarting")).reason).toBe("It ended: the daemon does not answer.");
});

describe("a sidecar with an older daemon", () => {
  /** Starts a sidecar, and returns its start arguments and the answer to its question. */
  function older() {
    let answer = (_now: boolean): void => {};
    const answered = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    const update = vi.fn(() => answered);
    const starts: boolean[] = [];
    const args = (now: boolean) => {
      starts.push(now);
      return [fake, "older", ...(now ? ["--update"] : [])];
    };
    return { sidecar: startSidecar("older", { args, update }), update, starts, answer };
  }

  test("works, and updates when the person wants it", async () => {
    const { sidecar, update, starts, answer } = older();
    await reach(sidecar, "running");
    await expect
      .poll(() => update)
      .toHaveBeenCalledExactlyOnceWith("a question is open", 7, expect.any(AbortSignal));
    const again = reach(sidecar, "starting");
    answer(true);
    await again;
    await reach(sidecar, "running");
    expect(starts).toEqual([false, true]);
  });

  test("asks once, however often it is started", async () => {
    const { sidecar, update, starts, answer } = older();
    await reach(sidecar, "running");
    await expect.poll(() => update).toHaveBeenCalledOnce();
    answer(false);
    const again = reach(sidecar, "starting");
    sidecar.restart();
    await again;
    await reach(sidecar, "running");
    expect(await sidecar.forward("test/echo", {})).toEqual({});
    expect(starts).toEqual([false, false]);
    expect(update).toHaveBeenCalledOnce();
  });
});

test("the question about an update ends with the sidecar that had the older daemon, and can be put again", async () => {
  const signals: AbortSignal[] = [];
  const update = vi.fn(async (_why: string, _pid: unknown, over: AbortSignal) => {
    signals.push(over);
    await new Promise((resolve) => over.addEventListener("abort", resolve));
    return true; // too late
  });
  const sidecar = startSidecar("older", { update });
  for (const asked of [1, 2]) {
    await reach(sidecar, "running");
    await expect.poll(() => update).toHaveBeenCalledTimes(asked);
    expect(signals.map(({ aborted }) => aborted)).toEqual(asked === 1 ? [false] : [true, false]);
    const again = reach(sidecar, "starting");
    sidecar.restart();
    await again;
  }
});

describe("a daemon that hangs", () => {
  /** Starts a sidecar that writes to stderr. The signals are those of the questions. */
  async function begin() {
    const signals: AbortSignal[] = [];
    const hangs = vi.fn(async (_pid: number, over: AbortSignal) => void signals.push(over));
    const sidecar = startSidecar("works", { hangs });
    await reach(sidecar, "running");
    const say = (code: string) => sidecar.forward("test/say", { level: "warn", code, pid: 7 });
    return { sidecar, hangs, signals, say };
  }

  test("is told of until it answers again", async () => {
    const { hangs, signals, say } = await begin();
    await say("hangs");
    await expect.poll(() => hangs).toHaveBeenCalledWith(7, expect.any(AbortSignal));
    expect(signals[0]?.aborted).toBe(false);
    await say("answers");
    await expect.poll(() => signals[0]?.aborted).toBe(true);
    await say("hangs");
    await expect.poll(() => signals[1]?.aborted).toBe(false);
  });

  test("is told of until it has ended", async () => {
    const { sidecar, hangs, signals, say } = await begin();
    await say("hangs");
    await expect.poll(() => hangs).toHaveBeenCalledOnce();
    const starting = reach(sidecar, "starting");
    await expect(sidecar.forward("test/loseDaemon", {})).rejects.toBeDefined();
    await starting;
    expect(signals[0]?.aborted).toBe(true);
  });
});

describe("a sidecar that can never work", () => {
  test.for<readonly [name: string, mode: string, reason: RegExp]>([
    ["speaks another version", "old", /protocol version is \d+/],
    ["refuses the handshake", "refuses", /Update the extension\.$/],
  ])("fails for good when it %s", async ([, mode, reason]) => {
    const states: SidecarStatus["state"][] = [];
    const sidecar = startSidecar(mode);
    sidecar.onStatus(({ state }) => states.push(state));
    expect((await reach(sidecar, "failed")).reason).toMatch(reason);
    expect(states).toEqual(["failed"]);
    await expect(sidecar.forward("test/echo", {})).rejects.toMatchObject({
      code: ErrorCode.Unavailable,
      message: expect.stringMatching(reason),
    });
  });

  test("fails for good when there is no such program, and can be asked to try again", async () => {
    const sidecar = startSidecar("", { command: "/nonexistent/assent" });
    expect((await reach(sidecar, "failed")).reason).toMatch(/cannot be started: .*ENOENT/);
    const starting = reach(sidecar, "starting");
    sidecar.restart();
    await starting;
    await reach(sidecar, "failed");
  });

  test("is given up when it does not answer the handshake, and killed", async () => {
    const sidecar = startSidecar("deaf", {
      timing: { handshake: 500, closeTimeout: 50, firstPause: 1_000_000 },
    });
    const { reason } = await reach(sidecar, "restarting");
    expect(reason).toBe("It did not answer the first request.");
  });
});

test("a sidecar that does not listen is killed when it is stopped", async () => {
  let sidecar: Sidecar | undefined;
  const line = await new Promise<string>((resolve) => {
    sidecar = startSidecar("deaf", { log: resolve });
  });
  const { pid } = JSON.parse(line) as { readonly pid: number };
  expect(process.kill(pid, 0)).toBe(true);
  await sidecar?.stop();
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("a sidecar that still ends its servers is given the time that the protocol says", async () => {
  let sidecar: Sidecar | undefined;
  await new Promise<string>((resolve) => {
    sidecar = startSidecar("deaf", { log: resolve, timing: {} });
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const stopped = sidecar?.stop();
  vi.advanceTimersByTime(closeTimeoutMs - 1);
  expect(vi.getTimerCount()).toBe(1); // not killed yet
  vi.advanceTimersByTime(1);
  await stopped;
});
