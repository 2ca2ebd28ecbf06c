import type { Step } from "./timeline.ts";

/** Returns for how many milliseconds of a call questions of it waited for the person. Questions at once count once. */
export function askedFor(steps: readonly Step[], startedAt: number, endedAt: number): number {
  const waits = steps
    .map(({ message, ask }) => ({
      from: Math.max(message.time, startedAt),
      to: Math.min(ask.outcome?.at ?? endedAt, endedAt),
    }))
    .toSorted((a, b) => a.from - b.from);
  let sum = 0;
  let until = startedAt;
  for (const { from, to } of waits) {
    if (to <= until) continue;
    sum += to - Math.max(from, until);
    until = to;
  }
  return sum;
}
