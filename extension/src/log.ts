import { named, visible } from "@assent/protocol/visible";

type Level = "trace" | "debug" | "info" | "warn" | "error";

/** The part of VS Code's LogOutputChannel that is used here. */
export type Log = Readonly<Record<Level, (text: string) => void>>;

/**
 * Writes a line of the sidecar to the log: zerolog's JSON, or the output of a crash. A line that may be older is
 * written with its time.
 */
export function logLine(log: Log, line: string, older = false): void {
  const entry = parse(line);
  if (entry === undefined) {
    log.error(escaped(line));
    return;
  }
  const { level, message, time, ...fields } = entry;
  const words = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  if (typeof message === "string") words.unshift(message);
  if (older && typeof time === "string") words.unshift(time);
  log[methodOf(level)](escaped(words.join(" ")));
}

/** Puts a text on one line, with its hidden characters visible, because a server may have written it. */
function escaped(text: string): string {
  return visible(text).replace(/[\r\n]/g, named);
}

function methodOf(level: unknown): Level {
  switch (level) {
    case "trace":
    case "debug":
    case "warn":
      return level;
    case "error":
    case "fatal":
    case "panic":
      return "error";
    default:
      return "info";
  }
}

/** Parses a line of the log; undefined if it is not JSON. */
export function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
