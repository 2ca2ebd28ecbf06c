import type { Grant, GrantTerms, Model } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { money, when } from "../../lib/format.ts";
import { listed, plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";

/** Describes what a grant allows, for the person to agree to. */
export function termsInWords(terms: GrantTerms, models: readonly Model[] = []): string {
  const { serverName, toolName = "", maxRequests = 0, maxTokens = 0, maxCost = 0 } = terms;
  const { expiresAt = 0, session = false, review = false } = terms;
  const sums = [
    ...(maxTokens > 0 ? [plural(maxTokens, l10n.t("1 token"), l10n.t("{0} tokens"))] : []),
    ...(maxCost > 0 ? [money(maxCost)] : []),
  ];
  const allows = [
    requestsWords(maxRequests, visible(serverName), visible(toolName)),
    l10n.t("to {0}", modelNames(terms.models ?? [], models)),
    ...(sums.length > 0 ? [l10n.t("up to {0} in all", listed(sums))] : []),
    ...(expiresAt > 0 ? [l10n.t("until {0}", when(expiresAt))] : []),
    ...(session ? [l10n.t("until this session ends")] : []),
  ];
  return `${allows.join(", ")}. ${review ? l10n.t("You see each answer.") : l10n.t("The server gets each answer at once.")}`;
}

function requestsWords(most: number, serverName: string, toolName: string): string {
  if (toolName === "") {
    return most === 0
      ? l10n.t("Any number of requests from {0}", serverName)
      : plural(
          most,
          l10n.t("Up to 1 request from {1}"),
          l10n.t("Up to {0} requests from {1}"),
          serverName,
        );
  }
  return most === 0
    ? l10n.t("Any number of requests from {0} during {1}", serverName, toolName)
    : plural(
        most,
        l10n.t("Up to 1 request from {1} during {2}"),
        l10n.t("Up to {0} requests from {1} during {2}"),
        serverName,
        toolName,
      );
}

const fewModels = 3;

function modelNames(ids: readonly string[], models: readonly Model[]): string {
  if (ids.includes("*")) return l10n.t("any model");
  if (ids.length > fewModels) return l10n.t("any of {0} models", ids.length);
  const names = ids.map((id) => visible(models.find((model) => model.id === id)?.name ?? id));
  const last = names.pop() ?? "";
  return names.length === 0 ? last : l10n.t("{0} or {1}", names.join(", "), last);
}

export type GrantState = "active" | "session" | "usedUp" | "expired" | "revoked" | "over";

/** The state of a grant. Only "active" and "session" grants can approve requests. */
export function grantState(grant: Grant, now: number): GrantState {
  const { endedAt = 0, session = false, expiresAt = 0, spent } = grant;
  if (endedAt > 0) return session ? "over" : "revoked";
  if (expiresAt > 0 && expiresAt <= now) return "expired";
  const isUsedUp = (bound = 0, used = 0) => bound > 0 && used >= bound;
  if (
    isUsedUp(grant.maxRequests, spent.requests) ||
    isUsedUp(grant.maxTokens, spent.tokens) ||
    isUsedUp(grant.maxCost, spent.cost)
  ) {
    return "usedUp";
  }
  return session ? "session" : "active";
}

export function isAlive(grant: Grant, now: number): boolean {
  const state = grantState(grant, now);
  return state === "active" || state === "session";
}
