import type { Message } from "@assent/protocol";
import type { OpenAskAt } from "../../store/openAsks.ts";

/**
 * Returns the open ask to show: the chosen one; if that is settled, the next one; otherwise the first.
 */
export function currentOf(
  asks: readonly OpenAskAt[],
  messages: readonly Message[],
  chosen: string | undefined,
): OpenAskAt | undefined {
  const open = asks.find(({ ask }) => ask.askId === chosen);
  if (open !== undefined || chosen === undefined) return open ?? asks[0];
  const settled = messages.findIndex(({ body }) => body.type === "ask" && body.askId === chosen);
  const next = settled === -1 ? undefined : asks.find(({ index }) => index > settled);
  return next ?? asks[0];
}

/** The target of a step in the dock: a loaded ask, or one on a page that is not loaded. */
export type Step = { readonly to: OpenAskAt } | { readonly older: "first" | "last" };

/** Steps through all open asks of the task, in a circle. Those on older pages come first. */
export function stepFrom(
  asks: readonly OpenAskAt[],
  current: OpenAskAt,
  older: number,
  way: "next" | "previous",
): Step {
  const at = asks.indexOf(current);
  const to = asks[way === "next" ? at + 1 : at - 1];
  if (to !== undefined) return { to };
  if (older > 0) return { older: way === "next" ? "first" : "last" };
  return { to: asks.at(way === "next" ? 0 : -1) ?? current };
}
