import type { GrantTerms, Model } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type Draft, own } from "../../view/viewState.ts";

/** The keys under which a draft stores the form of a grant. */
export const grantKey = {
  open: "grant open",
  span: "grant span",
  requests: "grant requests",
  tokens: "grant tokens",
  cost: "grant cost",
  until: "grant until",
  anyTool: "grant any tool",
  anyModel: "grant any model",
  unseen: "grant unseen",
} as const;

/** Reports whether a draft has values of a grant's form. */
export function isOfGrant(key: string): boolean {
  return key.startsWith("grant ");
}

/** The possible scope of a grant. */
export interface GrantScope {
  readonly serverName: string;
  /** The tool of the call during which the server asks; undefined without a call, or with several. */
  readonly toolName?: string | undefined;
  /** The model that would answer now. */
  readonly model: Model | undefined;
  /** All models that the server may use. */
  readonly models: readonly Model[];
}

export const untils = ["none", "hour", "today", "week"] as const;
export type Until = (typeof untils)[number];

/** The values of the form, with defaults. */
export interface GrantForm {
  readonly session: boolean;
  readonly requests: string;
  readonly tokens: string;
  readonly cost: string;
  readonly until: Until;
  readonly onlyTool: boolean;
  readonly anyModel: boolean;
  readonly review: boolean;
}

export function readGrantForm(draft: Draft): GrantForm {
  const typed = (key: string, initial: string) => {
    const value = own(draft, key);
    return typeof value === "string" ? value : initial;
  };
  const until = typed(grantKey.until, "none");
  return {
    session: typed(grantKey.span, "bounded") === "session",
    requests: typed(grantKey.requests, "10"),
    tokens: typed(grantKey.tokens, ""),
    cost: typed(grantKey.cost, ""),
    until: untils.find((known) => known === until) ?? "none",
    onlyTool: own(draft, grantKey.anyTool) !== true,
    anyModel: own(draft, grantKey.anyModel) === true,
    review: own(draft, grantKey.unseen) !== true,
  };
}

/** The problems by the terms' fields, as the sidecar names them; "" is the whole grant. */
export type GrantProblems = Readonly<Partial<Record<"" | keyof GrantTerms, string>>>;

export interface GrantOfForm {
  readonly terms: GrantTerms;
  readonly problems: GrantProblems;
}

/** The terms that the form describes. The sidecar checks them again. */
export function termsOf(form: GrantForm, scope: GrantScope, now: number): GrantOfForm {
  const models = form.anyModel ? scope.models : scope.model === undefined ? [] : [scope.model];
  const requests = numberIn(form.requests);
  const tokens = numberIn(form.tokens);
  const cost = hasPrice(models) ? numberIn(form.cost) : 0;
  const expiresAt = endOf(form.until, now);
  const bounds = {
    ...(requests > 0 && { maxRequests: requests }),
    ...(tokens > 0 && { maxTokens: tokens }),
    ...(cost > 0 && { maxCost: cost }),
    ...(expiresAt > 0 && { expiresAt }),
  };
  const isUnbounded = [requests, tokens, cost, expiresAt].every((bound) => bound === 0);
  const problems: GrantProblems = form.session
    ? {}
    : {
        ...(!isCount(requests) && { maxRequests: l10n.t("Enter a whole number of at least 1.") }),
        ...(!isCount(tokens) && { maxTokens: l10n.t("Enter a whole number of at least 1.") }),
        ...(!(cost >= 0) && { maxCost: l10n.t("Enter an amount in dollars.") }),
        ...(isUnbounded && {
          "": l10n.t("Set a bound, or choose this session."),
        }),
      };
  return {
    terms: {
      serverName: scope.serverName,
      ...(scope.toolName !== undefined && form.onlyTool && { toolName: scope.toolName }),
      models: models.map(({ id }) => id),
      ...(form.session ? { session: true } : bounds),
      ...(form.review && { review: true }),
    },
    problems: {
      ...problems,
      ...(models.length === 0 && { models: l10n.t("No model is available to allow.") }),
    },
  };
}

/** A cost bound is possible only if every model's price is known. */
export function hasPrice(models: readonly Model[]): boolean {
  return (
    models.length > 0 &&
    models.every(({ inputCost, outputCost }) => inputCost !== undefined && outputCost !== undefined)
  );
}

/** Parses a typed number: 0 for nothing, NaN for an invalid number. A typed 0 is invalid as a bound. */
function numberIn(text: string): number {
  const trimmed = text.trim();
  if (trimmed === "") return 0;
  const n = Number(trimmed);
  return n > 0 && Number.isFinite(n) ? n : Number.NaN;
}

function isCount(n: number): boolean {
  return Number.isSafeInteger(n);
}

const hour = 3_600_000;

function endOf(until: Until, now: number): number {
  switch (until) {
    case "none":
      return 0;
    case "hour":
      return now + hour;
    case "today":
      return new Date(now).setHours(23, 59, 59, 999);
    case "week":
      return now + 7 * 24 * hour;
  }
}
