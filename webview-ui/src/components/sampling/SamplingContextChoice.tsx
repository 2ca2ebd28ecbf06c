import type { SamplingContext } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { Verbatim } from "../content/ContentBlocks.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";

export interface SamplingContextChoiceProps {
  readonly context: SamplingContext;
  readonly included: boolean;
  readonly disabled: boolean;
  readonly onInclude: (included: boolean) => void;
  readonly keep: string;
}

/**
 * The part of the conversation that a server asks for (2025-11-25, "Sampling: includeContext"). It contains data of
 * other servers, so it is sent only if the person chooses so.
 */
export function SamplingContextChoice(props: SamplingContextChoiceProps) {
  const { context, included, disabled, onInclude, keep } = props;
  const { text, serverNames = [], omitted = 0 } = context;
  return (
    <div className="sampling-context">
      <Disclosure keep={`${keep}:context`} summary={contextWords(text.length, serverNames)}>
        <Verbatim text={text} />
        {omitted > 0 && (
          <p className="muted">
            {plural(
              omitted,
              l10n.t("1 older result was left out because it did not fit."),
              l10n.t("{0} older results were left out because they did not fit."),
            )}
          </p>
        )}
      </Disclosure>
      <label className="tick">
        <input
          type="checkbox"
          checked={included}
          disabled={disabled}
          onChange={(event) => onInclude(event.target.checked)}
        />
        {l10n.t("Send this context")}
      </label>
    </div>
  );
}

function contextWords(length: number, serverNames: readonly string[]): string {
  return serverNames.length === 0
    ? plural(
        length,
        l10n.t("The server asks for context: 1 character"),
        l10n.t("The server asks for context: {0} characters"),
      )
    : plural(
        length,
        l10n.t("The server asks for context: 1 character from {1}"),
        l10n.t("The server asks for context: {0} characters from {1}"),
        serverNames.map(visible).join(", "),
      );
}
