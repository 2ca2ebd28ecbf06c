import * as l10n from "@vscode/l10n";
import { type ReactNode, useId } from "react";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import type { Draft, FieldInput } from "../../view/viewState.ts";
import { NumberField } from "../ui/NumberField.tsx";
import { Tick } from "../ui/Tick.tsx";
import {
  type GrantOfForm,
  type GrantProblems,
  type GrantScope,
  grantKey,
  hasPrice,
  readGrantForm,
  type Until,
  untils,
} from "./grantForm.ts";
import { termsInWords } from "./grantWords.ts";

export interface GrantFieldsProps {
  readonly scope: GrantScope;
  readonly draft: Draft;
  readonly of: GrantOfForm;
  /** Further problems that the sidecar found. */
  readonly refused?: GrantProblems | undefined;
  /** The tool was not chosen by the person, so they can remove the restriction to it. */
  readonly namesTool?: boolean;
  /** The id of the sentence that describes the grant. */
  readonly wordsId: string;
  readonly disabled: boolean;
  readonly onInput: (key: string, value: FieldInput) => void;
}

/** The bounds of a grant, with a sentence that describes it. */
export function GrantFields(props: GrantFieldsProps) {
  const { scope, draft, of, refused, namesTool = true, wordsId, disabled, onInput } = props;
  const form = readGrantForm(draft);
  const id = useId();
  const { toolName, model, models } = scope;
  const problems = { ...refused, ...of.problems };
  const allowed = form.anyModel ? models : model === undefined ? [] : [model];
  const general = [problems[""], problems.models, problems.expiresAt, problems.toolName].filter(
    (message) => message !== undefined,
  );
  return (
    <fieldset className="grant-fields" disabled={disabled}>
      <legend className="visually-hidden">{l10n.t("Scope and bounds")}</legend>
      <fieldset className="field">
        <legend>{l10n.t("How long")}</legend>
        <Choice
          name={`${id}span`}
          checked={!form.session}
          onCheck={() => onInput(grantKey.span, "bounded")}
        >
          {l10n.t("Within bounds")}
        </Choice>
        <Choice
          name={`${id}span`}
          checked={form.session}
          onCheck={() => onInput(grantKey.span, "session")}
        >
          {l10n.t("For this session")}
        </Choice>
      </fieldset>
      {!form.session && (
        <div className="grant-bounds">
          <NumberField
            label={l10n.t("Requests")}
            inputMode="numeric"
            placeholder={l10n.t("no bound")}
            value={form.requests}
            problem={problems.maxRequests}
            onInput={(value) => onInput(grantKey.requests, value)}
          />
          <NumberField
            label={l10n.t("Tokens, in and out")}
            inputMode="numeric"
            placeholder={l10n.t("no bound")}
            value={form.tokens}
            problem={problems.maxTokens}
            onInput={(value) => onInput(grantKey.tokens, value)}
          />
          {hasPrice(allowed) && (
            <NumberField
              label={l10n.t("Cost, in US dollars")}
              inputMode="decimal"
              placeholder={l10n.t("no bound")}
              value={form.cost}
              problem={problems.maxCost}
              onInput={(value) => onInput(grantKey.cost, value)}
            />
          )}
          <div className="field">
            <label htmlFor={`${id}until`}>{l10n.t("Until")}</label>
            <select
              id={`${id}until`}
              value={form.until}
              onChange={(event) => onInput(grantKey.until, event.target.value)}
            >
              {untils.map((until) => (
                <option key={until} value={until}>
                  {untilWords[until]()}
                </option>
              ))}
            </select>
          </div>
        </div>
      )}
      {model !== undefined && models.length > 1 && (
        <fieldset className="field">
          <legend>{l10n.t("Models")}</legend>
          <Choice
            name={`${id}model`}
            checked={!form.anyModel}
            onCheck={() => onInput(grantKey.anyModel, false)}
          >
            {l10n.t("Only {0}", visible(model.name))}
          </Choice>
          <Choice
            name={`${id}model`}
            checked={form.anyModel}
            onCheck={() => onInput(grantKey.anyModel, true)}
          >
            {plural(
              models.length,
              l10n.t("Any of the 1 model that {1} may use"),
              l10n.t("Any of the {0} models that {1} may use"),
              scope.serverName,
            )}
          </Choice>
        </fieldset>
      )}
      {toolName !== undefined && namesTool && (
        <Tick checked={form.onlyTool} onTick={(only) => onInput(grantKey.anyTool, !only)}>
          {l10n.t("Only during the tool {0}", visible(toolName))}
        </Tick>
      )}
      <Tick checked={form.review} onTick={(see) => onInput(grantKey.unseen, !see)}>
        {l10n.t("Review each answer before the server gets it")}
      </Tick>
      {general.map((message) => (
        <p key={message} role="alert" className="field-problem">
          {message}
        </p>
      ))}
      {Object.keys(of.problems).length === 0 && (
        <p id={wordsId} className="grant-words">
          {termsInWords(of.terms, models)}
        </p>
      )}
    </fieldset>
  );
}

const untilWords: Readonly<Record<Until, () => string>> = {
  none: () => l10n.t("No expiry"),
  hour: () => l10n.t("1 hour from now"),
  today: () => l10n.t("The end of today"),
  week: () => l10n.t("7 days from now"),
};

interface ChoiceProps {
  readonly name: string;
  readonly checked: boolean;
  readonly onCheck: () => void;
  readonly children: ReactNode;
}

function Choice({ name, checked, onCheck, children }: ChoiceProps) {
  return (
    <label className="tick">
      <input type="radio" name={name} checked={checked} onChange={onCheck} />
      <span>{children}</span>
    </label>
  );
}
