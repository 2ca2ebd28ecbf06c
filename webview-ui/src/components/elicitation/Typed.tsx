import type { Field } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { titleOf } from "../../lib/fields.ts";
import { visible } from "../../lib/visible.ts";
import { fieldText } from "../../timeline/fieldText.ts";
import { type Draft, own } from "../../view/viewState.ts";
import { CopyButton } from "../ui/CopyButton.tsx";

export interface TypedProps {
  readonly intro: string;
  readonly fields: readonly Field[];
  readonly draft: Draft;
}

/** The draft of a form that can no longer be sent. The person may need it elsewhere. */
export function Typed({ intro, fields, draft }: TypedProps) {
  const typed = fields.flatMap((field) => {
    const input = own(draft, field.name);
    return input === undefined || input === "" ? [] : [{ field, text: fieldText(field, input) }];
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
