import { describe, expect, test } from "vitest";
import { statusTooltip } from "./statusWords.ts";

describe("the tooltip of the status bar", () => {
  test("counts by task", () => {
    const tasks = [
      { title: "cleanup", openAsks: 2 },
      { title: "", openAsks: 1 },
    ];
    expect(statusTooltip(3, tasks, 0, 0)).toBe(
      "Assent: 3 open questions\n2 in cleanup\n1 in New task",
    );
  });

  test("begins with what no task has yet", () => {
    expect(statusTooltip(2, [{ title: "cleanup", openAsks: 1 }], 1, 0)).toBe(
      "Assent: 2 open questions\n1 without a task\n1 in cleanup",
    );
  });

  test("ends with what waits where no window is", () => {
    expect(statusTooltip(3, [{ title: "cleanup", openAsks: 1 }], 0, 2)).toBe(
      "Assent: 3 open questions\n1 in cleanup\n2 in workspaces without a window",
    );
  });

  test("gives a title no more than its line", () => {
    const title = `a\n$(x)\u202e${"b".repeat(100)}`;
    const [first, second, ...others] = statusTooltip(1, [{ title, openAsks: 1 }], 0, 0).split("\n");
    expect(first).toBe("Assent: 1 open question");
    expect(second).toBe(`1 in a $(x)[U+202E]${"b".repeat(46)}…`);
    expect(others).toEqual([]);
  });

  test.each([
    { more: 1, want: "and in 1 more task" },
    { more: 2, want: "and in 2 more tasks" },
  ])("ends after ten tasks: $want", ({ more, want }) => {
    const tasks = Array.from({ length: 10 + more }, () => ({ title: "t", openAsks: 1 }));
    const lines = statusTooltip(tasks.length, tasks, 0, 0).split("\n");
    expect(lines).toHaveLength(12);
    expect(lines.at(-1)).toBe(want);
  });
});
