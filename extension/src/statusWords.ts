import * as l10n from "@vscode/l10n";
import type { TaskCount } from "./openAsks.ts";

/** More lines than that are no tooltip any more. */
const mostTasks = 10;
const longestTitle = 60;

/** The open asks in words, as on the badge. */
export function inWords(count: number): string {
  return count === 1 ? l10n.t("1 open question") : l10n.t("{0} open questions", count);
}

/** The open asks in words, and how many there are in each task, in none, and in workspaces without a window. */
export function statusTooltip(
  count: number,
  tasks: readonly TaskCount[],
  unclaimed: number,
  unattended: number,
): string {
  const lines = tasks
    .slice(0, mostTasks)
    .map(({ title, openAsks }) => l10n.t("{0} in {1}", openAsks, shortTitle(title)));
  const others = tasks.length - lines.length;
  if (others > 0) {
    lines.push(
      others === 1 ? l10n.t("and in 1 more task") : l10n.t("and in {0} more tasks", others),
    );
  }
  if (unattended > 0) lines.push(l10n.t("{0} in workspaces without a window", unattended));
  if (unclaimed > 0) lines.unshift(l10n.t("{0} without a task", unclaimed));
  return [`Assent: ${inWords(count)}`, ...lines].join("\n");
}

/** A task may be named by a tool, and a tool by a stranger: a title is one line, and not for ever. */
function shortTitle(title: string): string {
  const line = title.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  if (line === "") return l10n.t("New task");
  return line.length > longestTitle ? `${line.slice(0, longestTitle)}…` : line;
}
