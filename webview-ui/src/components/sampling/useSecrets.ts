import type { McpSamplingRequest, SamplingContext, SecretFinding } from "@assent/protocol";
import { useState } from "react";
import { type Placed, placeSecrets } from "../../timeline/secrets.ts";

export interface SecretsAsked {
  /** The secrets that the sidecar found in the server's request. */
  readonly secrets: readonly SecretFinding[];
  /** The secrets for which the last sent request was refused, in words. */
  readonly refused: readonly string[];
  /** The request that would be sent now. */
  readonly request: McpSamplingRequest;
  readonly context: SamplingContext | undefined;
  /** Changes with the request that would be sent. */
  readonly version: string;
}

export interface SecretsState {
  readonly placed: readonly Placed[];
  /** The refusals of exactly this request. For an edited request they are unknown. */
  readonly refused: readonly string[];
  readonly hasSecrets: boolean;
  /** The person confirms sending them. */
  readonly isConfirmed: boolean;
  readonly confirm: (confirmed: boolean) => void;
  /** Notes that the current request is being sent. */
  readonly noteSent: () => void;
}

/**
 * Tracks the secrets in the request that the person is about to send. A confirmation or refusal applies only to the
 * request as it was then, not to later edits. Both end with the view.
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
