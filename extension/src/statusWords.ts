import { visible } from "@assent/protocol/visible";
import * as l10n from "@vscode/l10n";
import type { TaskCount } from "./openAsks.ts";
import { oneLine } from "./previewText.ts";

/** The most tasks that the tooltip lists. */
const mostTasks = 10;
const longestTitle = 60;

/** Returns the number of open asks in words, as on the badge. */
export function inWords(count: number): string {
  return count === 1 ? l10n.t("1 open question") : l10n.t("{0} open questions", count);
}

/** Returns the number of open asks in words: of each task, without a task, and of workspaces without a window. */
export function statusTooltip(
  count: number,
  tasks: readonly TaskCount[],
  unattributed: number,
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
  if (unattributed > 0) lines.unshift(l10n.t("{0} without a task", unattributed));
  return [`Assent: ${inWords(count)}`, ...lines].join("\n");
}

/** Shortens a title to one line, because a server's text may be in it. */
function shortTitle(title: string): string {
  const line = visible(oneLine(title));
  if (line === "") return l10n.t("New task");
  return line.length > longestTitle ? `${line.slice(0, longestTitle)}…` : line;
}
