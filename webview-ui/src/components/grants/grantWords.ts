import type { Grant, GrantTerms, Model } from "@assent/protocol";
import { visible } from "../ui/visible.ts";
import { count, money, when } from "../ui/words.ts";

/** What a grant allows, in words that a person can agree to. */
export function termsInWords(terms: GrantTerms, models: readonly Model[] = []): string {
  const { serverName, toolName = "", maxRequests = 0, maxTokens = 0, maxCost = 0 } = terms;
  const { expiresAt = 0, session = false, review = false } = terms;
  const sums = [
    ...(maxTokens > 0 ? [count(maxTokens, "token")] : []),
    ...(maxCost > 0 ? [money(maxCost)] : []),
  ];
  const allows = [
    `${maxRequests > 0 ? `Up to ${count(maxRequests, "request")}` : "Any number of requests"} from ${visible(serverName)}${toolName === "" ? "" : ` during ${visible(toolName)}`}`,
    `to ${modelNames(terms.models ?? [], models)}`,
    ...(sums.length > 0 ? [`up to ${sums.join(" and ")} in all`] : []),
    ...(expiresAt > 0 ? [`until ${when(expiresAt)}`] : []),
    ...(session ? ["until this session ends"] : []),
  ];
  return `${allows.join(", ")}. ${review ? "You see each answer." : "The server gets each answer at once."}`;
}

const fewModels = 3;

function modelNames(ids: readonly string[], models: readonly Model[]): string {
  if (ids.includes("*")) return "any model";
  if (ids.length > fewModels) return `any of ${count(ids.length, "model")}`;
  const names = ids.map((id) => visible(models.find((model) => model.id === id)?.name ?? id));
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

export type GrantState = "active" | "session" | "usedUp" | "expired" | "revoked" | "over";

/** How a grant is; only an "active" one and a "session" one may still approve something. */
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
