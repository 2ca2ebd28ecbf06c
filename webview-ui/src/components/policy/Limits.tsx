import type { PolicyEntry } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { Disclosure } from "../ui/Disclosure.tsx";
import { OpenSetting, type PolicyItemActions, PolicySource } from "./PolicyItem.tsx";
import { entryWords, keyOf, nameOf, usedWords } from "./policyWords.ts";

export interface LimitsProps {
  /** The entries with the effect "limit". */
  readonly entries: readonly PolicyEntry[];
  readonly actions: PolicyItemActions;
}

/** The limits for servers, grouped by setting. */
export function Limits({ entries, actions }: LimitsProps) {
  const settings = [...new Set(entries.map(({ setting = "" }) => setting))];
  const refused = entries.reduce((sum, { used }) => sum + (used?.count ?? 0), 0);
  const isSet = entries.some((entry) => entry.type !== "limit" || entry.default !== true);
  return (
    <Disclosure
      keep="policy-limits"
      summary={refused === 0 ? l10n.t("Limits") : l10n.t("Limits ({0} refused)", refused)}
      initiallyOpen={isSet || refused > 0}
    >
      <ul className="policy-entries" aria-label={l10n.t("Limits")}>
        {settings.map((setting) => {
          const of = entries.filter((entry) => entry.setting === setting);
          const isChanged = of.find((entry) => entry.type !== "limit" || entry.default !== true);
          const shown = isChanged ?? of[0];
          return (
            <li key={setting}>
              <ul className="policy-limits">
                {of.map((entry) => (
                  <li key={keyOf(entry)}>
                    {entry.type === "allowedModels" && (
                      <strong className="name">{nameOf(entry)} </strong>
                    )}
                    {entryWords(entry, [])}{" "}
                    <span className="muted">{usedWords(entry.used, entry)}</span>
                  </li>
                ))}
              </ul>
              <p className="muted">{shown !== undefined && <PolicySource entry={shown} />}</p>
              <OpenSetting setting={setting} actions={actions} />
            </li>
          );
        })}
      </ul>
    </Disclosure>
  );
}
