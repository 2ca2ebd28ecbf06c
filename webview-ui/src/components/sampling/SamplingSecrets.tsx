import * as l10n from "@vscode/l10n";
import { useId, useRef } from "react";
import { filled, plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { masked, type Placed } from "../../timeline/secrets.ts";
import { Icon } from "../ui/Icon.tsx";

export interface SamplingSecretsProps {
  /** The possible secrets in the server's request, and where they still occur. */
  readonly secrets: readonly Placed[];
  /** The secrets that the sidecar found in the person's edits. */
  readonly refused: readonly string[];
  /** The person confirms sending the remaining secrets. */
  readonly confirmed: boolean;
  readonly disabled: boolean;
  /** Removes the secrets with these numbers from all editable parts. */
  readonly onRedact: (numbers: readonly number[]) => void;
  readonly onConfirm: (confirmed: boolean) => void;
}

/** The warning about secrets in a request, with the actions for each. */
export function SamplingSecrets(props: SamplingSecretsProps) {
  const { secrets, refused, confirmed, disabled, onRedact, onConfirm } = props;
  const headingId = useId();
  const section = useRef<HTMLElement>(null);
  // The button disappears with the secret, so the focus moves here and the remaining number is read out.
  const redact = (numbers: readonly number[]) => {
    onRedact(numbers);
    section.current?.focus();
  };
  const sent = secrets.filter(({ places }) => places.length > 0);
  const redactable = sent.filter(({ redactable }) => redactable);
  if (secrets.length === 0 && refused.length === 0) return null;
  return (
    <section ref={section} className="secrets" aria-labelledby={headingId} tabIndex={-1}>
      <h3 id={headingId} className="notice notice-warning">
        <Icon name={sent.length + refused.length > 0 ? "warning" : "pass"} />
        <span>
          {sent.length + refused.length === 0
            ? l10n.t("No secret is left in the request.")
            : plural(
                sent.length + refused.length,
                l10n.t("1 possible secret"),
                l10n.t("{0} possible secrets"),
              )}
        </span>
      </h3>
      <ul>
        {secrets.map((placed) => (
          <li key={placed.number}>
            <span>
              {visible(placed.secret.description)}, <code>{visible(masked(placed.secret))}</code>
              <span className="muted">
                {" "}
                {placed.places.length === 0
                  ? l10n.t("not sent")
                  : l10n.t("in {0}", visible(placed.places.join(", ")))}
              </span>
            </span>
            {placed.redactable && (
              <button
                type="button"
                className="secondary small"
                disabled={disabled}
                onClick={() => redact([placed.number])}
              >
                {filled(
                  l10n.t("Redact {0}"),
                  <span className="visually-hidden">{visible(masked(placed.secret))}</span>,
                )}
              </button>
            )}
            {placed.places.length > 0 && !placed.redactable && (
              <span className="muted">{l10n.t("This text is read-only.")}</span>
            )}
          </li>
        ))}
      </ul>
      {refused.map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two secrets may be told in the same words.
        <p key={index} role="alert" className="field-problem">
          {message}
        </p>
      ))}
      {redactable.length > 1 && (
        <div className="actions">
          <button
            type="button"
            className="secondary small"
            disabled={disabled}
            onClick={() => redact(redactable.map(({ number }) => number))}
          >
            {l10n.t("Redact All")}
          </button>
        </div>
      )}
      {(sent.length > 0 || refused.length > 0) && (
        <label className="tick">
          <input
            type="checkbox"
            checked={confirmed}
            disabled={disabled}
            onChange={(event) => onConfirm(event.target.checked)}
          />
          {sent.length === 0
            ? l10n.t("Send anyway")
            : plural(sent.length, l10n.t("Send with 1 secret"), l10n.t("Send with {0} secrets"))}
        </label>
      )}
    </section>
  );
}
