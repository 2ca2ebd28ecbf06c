import type { Grant, Model } from "@assent/protocol";
import { visible } from "../ui/visible.ts";
import { count, money, when } from "../ui/words.ts";
import { type GrantState, grantState, isAlive, termsInWords } from "./grantWords.ts";
import { RevokeGrant } from "./RevokeGrant.tsx";

export interface GrantItemProps {
  readonly grant: Grant;
  /** The models that the server may have, as far as they are known, for their names. */
  readonly models: readonly Model[] | undefined;
  readonly now: number;
  readonly onRevoke: () => Promise<void>;
}

/** A grant in the list: whose it is, what it allows, what came of it, and how it is. */
export function GrantItem({ grant, models, now, onRevoke }: GrantItemProps) {
  const { serverName, by, createdAt, spent } = grant;
  const { maxRequests = 0, maxTokens = 0, maxCost = 0 } = grant;
  const { inFlight = 0 } = spent;
  const unbounded = [
    ...(maxRequests > 0 ? [] : [count(spent.requests, "request")]),
    ...(maxTokens > 0 ? [] : [count(spent.tokens, "token")]),
    ...(maxCost > 0 || spent.cost === 0 ? [] : [money(spent.cost)]),
  ];
  return (
    <>
      <p className="grant-head">
        <strong className="name">{visible(serverName)}</strong>
        <span className="muted">{stateWords[grantState(grant, now)]}</span>
      </p>
      <p>{termsInWords(grant, models)}</p>
      {maxRequests > 0 && (
        <Meter name="Requests" spent={spent.requests} most={maxRequests} words={inNumbers} />
      )}
      {maxTokens > 0 && (
        <Meter name="Tokens" spent={spent.tokens} most={maxTokens} words={inNumbers} />
      )}
      {maxCost > 0 && <Meter name="Cost" spent={spent.cost} most={maxCost} words={inMoney} />}
      <p className="muted">
        {unbounded.length > 0 && `Spent ${unbounded.join(", ")}. `}
        {inFlight > 0 && `${count(inFlight, "request")} under way. `}
        Made in {by}, <time dateTime={new Date(createdAt).toISOString()}>{when(createdAt)}</time>.
      </p>
      {isAlive(grant, now) && (
        <RevokeGrant of={`the grant of ${visible(serverName)}`} onRevoke={onRevoke} />
      )}
    </>
  );
}

const stateWords: Readonly<Record<GrantState, string>> = {
  active: "active",
  session: "active for this session",
  usedUp: "used up",
  expired: "expired",
  revoked: "revoked",
  over: "its session ended",
};

interface MeterProps {
  readonly name: string;
  readonly spent: number;
  readonly most: number;
  readonly words: (n: number) => string;
}

/** How much of a bound is spent. */
function Meter({ name, spent, most, words }: MeterProps) {
  const told = `${words(spent)} of ${words(most)}`;
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
  return dollars === 0 ? "nothing" : money(dollars);
}
