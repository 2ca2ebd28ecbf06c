import type { TaskCount } from "./openAsks.ts";

/** More lines than that are no tooltip any more. */
const mostTasks = 10;
const longestTitle = 60;

/** The open asks in words, as on the badge. */
export function inWords(count: number): string {
  return count === 1 ? "1 open question" : `${count} open questions`;
}

/** The open asks in words, and how many there are in each task, and in none. */
export function statusTooltip(
  count: number,
  tasks: readonly TaskCount[],
  unclaimed: number,
): string {
  const lines = tasks
    .slice(0, mostTasks)
    .map(({ title, openAsks }) => `${openAsks} in ${shortTitle(title)}`);
  const others = tasks.length - lines.length;
  if (others > 0) lines.push(`and in ${others} more ${others === 1 ? "task" : "tasks"}`);
  if (unclaimed > 0) lines.unshift(`${unclaimed} of no task yet`);
  return [`Assent: ${inWords(count)}`, ...lines].join("\n");
}

/** A task may be named by a tool, and a tool by a stranger: a title is one line, and not for ever. */
function shortTitle(title: string): string {
  const line = title.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  if (line === "") return "New task";
  return line.length > longestTitle ? `${line.slice(0, longestTitle)}…` : line;
}
