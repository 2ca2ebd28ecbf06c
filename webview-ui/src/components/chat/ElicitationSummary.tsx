import type { Field, McpElicitation, Outcome } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { filled } from "../../l10n.ts";
import { type Draft, own } from "../../viewState.ts";
import { labelOf } from "../form/ChoiceControls.tsx";
import { titleOf } from "../form/FieldFrame.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { visible } from "../ui/visible.ts";
import { json } from "../ui/words.ts";
import { AskMessage } from "./AskMessage.tsx";
import { during } from "./during.ts";
import { OutcomeLine } from "./OutcomeLine.tsx";
import { SettledAsk } from "./SettledAsk.tsx";

export interface ElicitationSummaryProps {
  readonly askId: string;
  readonly question: McpElicitation;
  readonly outcome: Outcome;
  /** What the person had typed when the server went away. */
  readonly draft: Draft | undefined;
  readonly keep: string;
}

/** A server's form that is settled: what became of it, and what the server was told. */
export function ElicitationSummary(props: ElicitationSummaryProps) {
  const { askId, question, outcome, draft, keep } = props;
  const { serverName, elicitationRequest, elicitationResponse } = question;
  const { message, fields = [] } = elicitationRequest;
  return (
    <SettledAsk
      askId={askId}
      head={
        <>
          {filled(l10n.t("{0} asked"), <span className="name">{serverName}</span>)}{" "}
          <span className="muted">{during(question)}</span>
        </>
      }
    >
      <OutcomeLine
        outcome={outcome}
        yes={l10n.t("Answered")}
        no={l10n.t("Declined")}
        subject={serverName}
      />
      <Disclosure
        keep={`${keep}:sent`}
        summary={
          elicitationResponse?.action === "accept"
            ? l10n.t("What was sent")
            : l10n.t("What was asked")
        }
      >
        <AskMessage {...{ askId, serverName }} text={message} />
        {elicitationResponse?.action === "accept" ? (
          <Sent fields={fields} content={elicitationResponse.content} />
        ) : (
          <p className="muted">
            {fields.length === 0 ? l10n.t("It had no fields.") : fields.map(titleOf).join(", ")}
          </p>
        )}
      </Disclosure>
      {draft !== undefined && (
        <Typed intro={l10n.t("What you had typed was not sent:")} {...{ fields, draft }} />
      )}
    </SettledAsk>
  );
}

function Sent({
  fields,
  content,
}: {
  readonly fields: readonly Field[];
  readonly content: unknown;
}) {
  const sent = isRecord(content) ? content : {};
  const names = Object.keys(sent);
  if (names.length === 0) return <p className="muted">{l10n.t("An answer without any field.")}</p>;
  return (
    <dl className="values">
      {names.map((name) => {
        const field = fields.find((candidate) => candidate.name === name);
        return (
          <div key={name}>
            <dt>{field === undefined ? visible(name) : titleOf(field)}</dt>
            <dd>{visible(field === undefined ? json(sent[name]) : shown(field, sent[name]))}</dd>
          </div>
        );
      })}
    </dl>
  );
}

export interface TypedProps {
  readonly intro: string;
  readonly fields: readonly Field[];
  readonly draft: Draft;
}

/** The draft of a form that cannot be sent from here. The person may need it elsewhere. */
export function Typed({ intro, fields, draft }: TypedProps) {
  const typed = fields.flatMap((field) => {
    const input = own(draft, field.name);
    return input === undefined || input === "" ? [] : [{ field, text: shown(field, input) }];
  });
  if (typed.length === 0) return null;
  const text = typed.map((entry) => `${titleOf(entry.field)}: ${entry.text}`).join("\n");
  return (
    <div className="typed">
      <p>{intro}</p>
      <dl className="values">
        {typed.map(({ field, text }) => (
          <div key={field.name}>
            <dt>{titleOf(field)}</dt>
            <dd>{visible(text)}</dd>
          </div>
        ))}
      </dl>
      <div className="actions">
        <CopyButton text={text} label={l10n.t("Copy")} />
      </div>
    </div>
  );
}

function shown(field: Field, value: unknown): string {
  if (field.secret) return "•••";
  if (typeof value === "string") {
    return value === "" ? l10n.t("(empty text)") : optionText(field, value);
  }
  if (typeof value === "boolean") return value ? l10n.t("Yes") : l10n.t("No");
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
    return value.length === 0
      ? l10n.t("(none)")
      : value.map((item) => optionText(field, item)).join(", ");
  }
  return json(value);
}

function optionText(field: Field, value: string): string {
  if (field.type !== "choice" && field.type !== "choices") return value;
  const option = field.options?.find((candidate) => candidate.value === value);
  return option === undefined ? value : labelOf(option);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
