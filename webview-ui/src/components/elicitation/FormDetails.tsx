import type { McpElicitation } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { titleOf } from "../../lib/fields.ts";
import { answersOf } from "../../timeline/fieldText.ts";
import { AskMessage } from "../ask/AskMessage.tsx";

export interface FormDetailsProps {
  readonly askId: string;
  readonly question: McpElicitation;
}

/** A server's form and the whole answer. Without values, only its fields. */
export function FormDetails({ askId, question }: FormDetailsProps) {
  const { serverName, elicitationRequest, elicitationResponse } = question;
  const { message, fields = [] } = elicitationRequest;
  const answers = answersOf(question);
  return (
    <>
      <AskMessage {...{ askId, serverName }} text={message} />
      {elicitationResponse?.action !== "accept" ? (
        <p className="muted">
          {fields.length === 0 ? l10n.t("It had no fields.") : fields.map(titleOf).join(", ")}
        </p>
      ) : answers.length === 0 ? (
        <p className="muted">{l10n.t("An answer without fields.")}</p>
      ) : (
        <dl className="values" aria-label={l10n.t("Answer")}>
          {answers.map(({ name, title, text }) => (
            <div key={name}>
              <dt>{title}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}
