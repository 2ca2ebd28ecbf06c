import { screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { showApp } from "../../testing/app.tsx";
import { FakeHost } from "../../testing/host.ts";
import { answered, ask, at, call, elicitation, message, task } from "../../testing/samples.ts";

const drawn = vi.hoisted(() => ({ lines: 0 }));

vi.mock("../../timeline/line.ts", async (original) => {
  const actual = await original<typeof import("../../timeline/line.ts")>();
  return {
    ...actual,
    lineOf: (step: Parameters<typeof actual.lineOf>[0]) => {
      drawn.lines += 1;
      return actual.lineOf(step);
    },
  };
});

test("what happens to one entry draws no line of another one again", async () => {
  const settled = Array.from({ length: 5 }, (_, n) =>
    message(n + 2, ask(`a${n}`, elicitation(undefined, { messageId: 1 }), answered)),
  );
  const host = new FakeHost(task(), [message(1, call()), ...settled, message(7, call())]);
  showApp(host);
  await screen.findAllByText(/^You answered/);
  const before = drawn.lines;
  expect(before).toBeGreaterThan(0);
  await host.tell("callProgress", {
    taskId: "t1",
    messageId: 7,
    progress: { progress: 1, total: 2, message: "Half of it", at },
  });
  await screen.findByText(/Half of it/);
  expect(drawn.lines).toBe(before);
});
