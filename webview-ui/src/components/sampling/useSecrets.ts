import type { McpSamplingRequest, SamplingContext, SecretFinding } from "@assent/protocol";
import { useState } from "react";
import { type Placed, placeSecrets } from "../../timeline/secrets.ts";

export interface SecretsAsked {
  /** What the sidecar found in what the server wrote. */
  readonly secrets: readonly SecretFinding[];
  /** What it found in what was last sent, in words; it was refused for that. */
  readonly refused: readonly string[];
  /** What would be sent now. */
  readonly request: McpSamplingRequest;
  readonly context: SamplingContext | undefined;
  /** Changes with what would be sent. */
  readonly version: string;
}

export interface SecretsState {
  readonly placed: readonly Placed[];
  /** What is refused of what would be sent now: of other words nothing is known yet. */
  readonly refused: readonly string[];
  readonly hasSecrets: boolean;
  /** The person wants them to be sent. */
  readonly isConfirmed: boolean;
  readonly confirm: (confirmed: boolean) => void;
  /** Notes that what would be sent now is sent. */
  readonly noteSent: () => void;
}

/**
 * The secrets in what a person is about to send. A yes to them, and a refusal for their sake, are of the
 * request as it was then, and not of what is made of it afterwards. Neither outlives the view.
 */
export function useSecrets(asked: SecretsAsked): SecretsState {
  const { secrets, request, context, version } = asked;
  const [sent, setSent] = useState<string>();
  const [confirmed, setConfirmed] = useState<string>();
  const placed = placeSecrets(secrets, request, context);
  const refused = sent === version ? asked.refused : [];
  const hasSecrets = refused.length > 0 || placed.some(({ places }) => places.length > 0);
  return {
    placed,
    refused,
    hasSecrets,
    isConfirmed: hasSecrets && confirmed === version,
    confirm: (yes) => setConfirmed(yes ? version : undefined),
    noteSent: () => setSent(version),
  };
}
