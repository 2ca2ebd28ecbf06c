import type { Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { visible } from "./visible.ts";

const cent = 0.01;

/** Formats an amount of US dollars. Amounts below a cent are not exact. */
export function money(dollars: number): string {
  if (dollars === 0) return l10n.t("free");
  return dollars < cent ? l10n.t("less than {0}", inDollars(cent)) : inDollars(dollars);
}

function inDollars(dollars: number): string {
  const exact = dollars < 1 ? Number(dollars.toPrecision(3)) : dollars;
  return exact.toLocaleString([], {
    style: "currency",
    currency: "USD",
    maximumFractionDigits: dollars < 1 ? 4 : 2,
  });
}

/** Formats a time: today's as the clock shows it, another day's with its date. */
export function when(time: number, now = Date.now()): string {
  const date = new Date(time);
  const today = date.toDateString() === new Date(now).toDateString();
  return today
    ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

/** The short form, for lists. */
export function briefly(time: number, now = Date.now()): string {
  const date = new Date(time);
  const sameYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toDateString() === new Date(now).toDateString()
    ? when(time, now)
    : date.toLocaleDateString([], {
        month: "short",
        day: "numeric",
        ...(!sameYear && { year: "numeric" }),
      });
}

/** Formats a time with its seconds, and another day's with its date. */
export function toTheSecond(time: number, now = Date.now()): string {
  const date = new Date(time);
  const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  return date.toDateString() === new Date(now).toDateString()
    ? date.toLocaleTimeString([], clock)
    : date.toLocaleString([], { month: "short", day: "numeric", ...clock });
}

/** The titles that more than one task has. */
export function sharedTitles(tasks: readonly Pick<Task, "title">[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const { title } of tasks) (seen.has(title) ? shared : seen).add(title);
  return shared;
}

/** Formats a duration. */
export function duration(ms: number): string {
  if (ms < 1000) return l10n.t("{0} ms", Math.max(0, Math.round(ms)));
  if (ms < 10_000) return l10n.t("{0} s", (ms / 1000).toFixed(1));
  return elapsed(ms);
}

/** Formats the time since a start. If the clock was set back, it is zero. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return l10n.t("{0} s", seconds);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return l10n.t("{0} min {1} s", minutes, seconds % 60);
  const hours = Math.floor(minutes / 60);
  return hours < 24
    ? l10n.t("{0} h {1} min", hours, minutes % 60)
    : l10n.t("{0} d {1} h", Math.floor(hours / 24), hours % 24);
}

/** Formats how long ago something was. */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return l10n.t("just now");
  if (minutes < 60) return l10n.t("{0} min ago", minutes);
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? l10n.t("{0} h ago", hours) : l10n.t("{0} d ago", Math.floor(hours / 24));
}

/** Formats a number of bytes. */
export function size(bytes: number): string {
  if (bytes < 1024) return l10n.t("{0} B", bytes);
  if (bytes < 1024 * 1024) return l10n.t("{0} kB", (bytes / 1024).toFixed(1));
  return l10n.t("{0} MB", (bytes / (1024 * 1024)).toFixed(1));
}

/** Formats JSON with indentation, unless it is nested so deeply that indentation would be most of the text. */
export function json(value: unknown): string {
  return JSON.stringify(value, null, isDeeper(value, 64) ? undefined : 2) ?? "";
}

/** Reports whether arrays and objects are nested deeper than this. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

/** Returns a task's title. Before the first tool call there is none; a title may come from a server. */
export function taskTitle({ title }: Pick<Task, "title">): string {
  return title === "" ? l10n.t("New task") : visible(title);
}
