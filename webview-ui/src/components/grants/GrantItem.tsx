import type { Grant, Model, PolicyUse } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { money, when } from "../../lib/format.ts";
import { filled, plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { type GrantState, grantState, termsInWords } from "./grantWords.ts";

export interface GrantItemProps {
  readonly grant: Grant;
  /** The models that the server may use, for their names, as far as they are known. */
  readonly models: readonly Model[] | undefined;
  readonly used: PolicyUse | undefined;
  readonly now: number;
}

/** A grant in the list: its server, terms, use and state. */
export function GrantItem({ grant, models, used, now }: GrantItemProps) {
  const { serverName, by, createdAt, spent } = grant;
  const { maxRequests = 0, maxTokens = 0, maxCost = 0 } = grant;
  const { inFlight = 0 } = spent;
  const unbounded = [
    ...(maxRequests > 0
      ? []
      : [plural(spent.requests, l10n.t("1 request"), l10n.t("{0} requests"))]),
    ...(maxTokens > 0 ? [] : [plural(spent.tokens, l10n.t("1 token"), l10n.t("{0} tokens"))]),
    ...(maxCost > 0 || spent.cost === 0 ? [] : [money(spent.cost)]),
  ];
  return (
    <>
      <p className="grant-head">
        <strong className="name">{visible(serverName)}</strong>
        <span className="muted">{stateWords[grantState(grant, now)]()}</span>
      </p>
      <p>{termsInWords(grant, models)}</p>
      {maxRequests > 0 && (
        <Meter
          name={l10n.t("Requests")}
          spent={spent.requests}
          most={maxRequests}
          words={inNumbers}
        />
      )}
      {maxTokens > 0 && (
        <Meter name={l10n.t("Tokens")} spent={spent.tokens} most={maxTokens} words={inNumbers} />
      )}
      {maxCost > 0 && (
        <Meter name={l10n.t("Cost")} spent={spent.cost} most={maxCost} words={inMoney} />
      )}
      <p className="muted">
        {unbounded.length > 0 && `${l10n.t("Spent {0}.", unbounded.join(", "))} `}
        {inFlight > 0 && `${underWay(inFlight)} `}
        {filled(
          l10n.t("Created in {0}, {1}."),
          by,
          <time dateTime={new Date(createdAt).toISOString()}>{when(createdAt)}</time>,
        )}
        {used !== undefined && ` ${l10n.t("Last used at {0}.", when(used.lastAt))}`}
      </p>
    </>
  );
}

function underWay(n: number): string {
  return plural(n, l10n.t("1 request is running."), l10n.t("{0} requests are running."));
}

const stateWords: Readonly<Record<GrantState, () => string>> = {
  active: () => l10n.t("active"),
  session: () => l10n.t("active for this session"),
  usedUp: () => l10n.t("used up"),
  expired: () => l10n.t("expired"),
  revoked: () => l10n.t("revoked"),
  over: () => l10n.t("its session ended"),
};

interface MeterProps {
  readonly name: string;
  readonly spent: number;
  readonly most: number;
  readonly words: (n: number) => string;
}

/** How much of a bound is used. */
function Meter({ name, spent, most, words }: MeterProps) {
  const told = l10n.t("{0} of {1}", words(spent), words(most));
  return (
    <div className="grant-meter">
      <p aria-hidden="true">
        <span className="muted">{name}</span> <span className="progress-count">{told}</span>
      </p>
      <meter aria-label={name} aria-valuetext={told} value={Math.min(spent, most)} max={most} />
    </div>
  );
}

function inNumbers(n: number): string {
  return n.toLocaleString();
}

function inMoney(dollars: number): string {
  return dollars === 0 ? l10n.t("nothing") : money(dollars);
}
