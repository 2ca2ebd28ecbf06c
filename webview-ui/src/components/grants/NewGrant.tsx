import type { GrantTerms, PreviewGrantResult } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useId, useRef, useState } from "react";
import { visible } from "../../lib/visible.ts";
import type { Models } from "../../store/servers.ts";
import { useDraft } from "../../view/useDraft.ts";
import { useView } from "../../view/ViewContext.ts";
import { type FieldInput, own } from "../../view/viewState.ts";
import { byField, refusedProblems } from "../form/refusedProblems.ts";
import { Refusal } from "../ui/Refusal.tsx";
import { useNow } from "../ui/useNow.ts";
import { GrantFields } from "./GrantFields.tsx";
import { GrantPreview } from "./GrantPreview.tsx";
import { type GrantScope, readGrantForm, termsOf } from "./grantForm.ts";

export interface NewGrantProps {
  readonly serverNames: readonly string[];
  readonly models: Models;
  /** The person chose another server, so its models are needed. */
  readonly onServer: (serverName: string) => void;
  /** Rejects if the terms are refused. */
  readonly onCreate: (terms: GrantTerms) => Promise<void>;
  /** Previews a grant. Rejects like its creation. */
  readonly onPreview: (terms: GrantTerms) => Promise<PreviewGrantResult>;
  /** Reveals a past request. */
  readonly onOpen: (taskId: string, messageId: number) => void;
  /** The grant was created, or the person cancelled. */
  readonly onDone: () => void;
}

const keep = "new grant";
const field = { server: "server", tool: "tool", model: "model" } as const;

/** A form that creates a grant without a request, with a preview on past requests. */
export function NewGrant(props: NewGrantProps) {
  const { serverNames, models, onServer, onCreate, onPreview, onOpen, onDone } = props;
  const view = useView();
  const [draft, setDraft] = useDraft(view.draft(keep), (next) => view.setDraft(keep, next));
  const input = (key: string, value: FieldInput) => setDraft({ ...draft, [key]: value });
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Error>();
  const [preview, setPreview] = useState<{
    readonly of: string;
    readonly result: PreviewGrantResult;
  }>();
  const id = useId();

  const text = (key: string) => {
    const value = own(draft, key);
    return typeof value === "string" ? value : "";
  };
  const serverName =
    serverNames.find((name) => name === text(field.server)) ?? serverNames[0] ?? "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once for each server.
  useEffect(() => onServer(serverName), [serverName]);
  const candidates = models.get(serverName)?.models ?? [];
  const scope: GrantScope = {
    serverName,
    toolName: text(field.tool).trim() || undefined,
    model: candidates.find((model) => model.id === text(field.model)) ?? candidates[0],
    models: candidates,
  };
  const terms = (now: number) => termsOf(readGrantForm(draft), scope, now);
  const of = terms(useNow(true));
  const isWrong = Object.keys(of.problems).length > 0;
  // The expiry changes every millisecond, so only the other terms are compared with the previewed ones.
  const { expiresAt: _end, ...lasting } = of.terms;
  const now = JSON.stringify([lasting, readGrantForm(draft).until]);

  const attempt = async (work: (terms: GrantTerms) => Promise<void>) => {
    setBusy(true);
    setRefusal(undefined);
    try {
      await work(terms(Date.now()).terms);
    } catch (error) {
      setRefusal(error instanceof Error ? error : new Error(String(error)));
    } finally {
      setBusy(false);
    }
  };
  const create = async (made: GrantTerms) => {
    await onCreate(made);
    view.setDraft(keep, undefined);
    onDone();
  };
  const tryOut = async (tried: GrantTerms) =>
    setPreview({ of: now, result: await onPreview(tried) });
  return (
    <>
      <ScopeFields {...{ scope, serverNames, text, disabled: busy }} onInput={input} />
      <GrantFields
        {...{ scope, draft, of }}
        namesTool={false}
        refused={byField(refusedProblems(refusal))}
        wordsId={`${id}words`}
        disabled={busy}
        onInput={input}
      />
      {refusal !== undefined && <Refusal message={refusal.message} />}
      <div className="actions">
        <button
          type="button"
          className="primary"
          aria-describedby={isWrong ? undefined : `${id}words`}
          disabled={busy || isWrong}
          onClick={() => void attempt(create)}
        >
          {l10n.t("Create Grant")}
        </button>
        <button
          type="button"
          className="secondary"
          disabled={busy || isWrong}
          onClick={() => void attempt(tryOut)}
        >
          {l10n.t("Try It on Past Requests")}
        </button>
        <button type="button" className="secondary" disabled={busy} onClick={onDone}>
          {l10n.t("Cancel")}
        </button>
      </div>
      {preview !== undefined && preview.of === now && (
        <GrantPreview {...preview} serverName={serverName} onOpen={onOpen} />
      )}
    </>
  );
}

interface ScopeFieldsProps {
  readonly scope: GrantScope;
  readonly serverNames: readonly string[];
  /** Returns the typed text of a field. */
  readonly text: (key: string) => string;
  readonly disabled: boolean;
  readonly onInput: (key: string, value: FieldInput) => void;
}

/** The scope of the grant. The first field has the focus at first. */
function ScopeFields({ scope, serverNames, text, disabled, onInput }: ScopeFieldsProps) {
  const id = useId();
  const first = useRef<HTMLSelectElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <>
      <div className="field">
        <label htmlFor={`${id}server`}>{l10n.t("For the server")}</label>
        <select
          ref={first}
          id={`${id}server`}
          value={scope.serverName}
          disabled={disabled}
          onChange={(event) => onInput(field.server, event.target.value)}
        >
          {serverNames.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${id}tool`}>{l10n.t("Only during the tool")}</label>
        <input
          id={`${id}tool`}
          type="text"
          autoComplete="off"
          placeholder={l10n.t("any")}
          disabled={disabled}
          value={text(field.tool)}
          onChange={(event) => onInput(field.tool, event.target.value)}
        />
      </div>
      {scope.models.length > 1 && (
        <div className="field">
          <label htmlFor={`${id}model`}>{l10n.t("Model")}</label>
          <select
            id={`${id}model`}
            value={scope.model?.id}
            disabled={disabled}
            onChange={(event) => onInput(field.model, event.target.value)}
          >
            {scope.models.map((model) => (
              <option key={model.id} value={model.id}>
                {visible(model.name)}
              </option>
            ))}
          </select>
        </div>
      )}
    </>
  );
}
