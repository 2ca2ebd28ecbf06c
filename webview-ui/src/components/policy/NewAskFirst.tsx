import type { AskFirstTerms } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { RpcError } from "../../link/client.ts";
import { Refusal } from "../ui/Refusal.tsx";

export interface NewAskFirstProps {
  /** Makes a rule. Rejects with an {@link RpcError} that describes the problem. */
  readonly onAdd: (terms: AskFirstTerms) => Promise<void>;
  /** A rule was made, or the person cancelled. */
  readonly onDone: () => void;
}

const kinds = ["command", "tool", "outside"] as const;

/** The form for a rule about what an agent asks first. */
export function NewAskFirst({ onAdd, onDone }: NewAskFirstProps) {
  const [kind, setKind] = useState<(typeof kinds)[number]>("command");
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const id = useId();
  const first = useRef<HTMLSelectElement>(null);
  useEffect(() => first.current?.focus(), []);
  const names = {
    command: l10n.t("a command"),
    tool: l10n.t("a tool"),
    outside: l10n.t("anything outside of the agent's folder"),
  };
  const hints = {
    command: l10n.t("How the command begins, such as git push"),
    tool: l10n.t("The agent's name for the tool, such as WebFetch or mcp__github__*"),
  };
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await onAdd(kind === "outside" ? { outside: true } : { [kind]: text.trim() });
      onDone();
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="fields" onSubmit={(event) => void add(event)}>
      <div className="field">
        <label htmlFor={`${id}kind`}>{l10n.t("Agents ask me before")}</label>
        <select
          ref={first}
          id={`${id}kind`}
          value={kind}
          onChange={({ target }) => setKind(kinds.find((one) => one === target.value) ?? kind)}
        >
          {kinds.map((one) => (
            <option key={one} value={one}>
              {names[one]}
            </option>
          ))}
        </select>
      </div>
      {kind !== "outside" && (
        <div className="field">
          <label htmlFor={`${id}text`}>{hints[kind]}</label>
          <input
            id={`${id}text`}
            type="text"
            required
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </div>
      )}
      <p className="muted">
        {l10n.t(
          "This needs the hook of Claude Code or opencode: assent setup --hook. opencode takes rules as it starts, and only those about commands. Assent also asks about a line that it cannot read for sure. It does not see what a program does by itself.",
        )}
      </p>
      {problem !== undefined && <Refusal message={problem} />}
      <div className="actions">
        <button type="submit" className="primary" disabled={busy}>
          {l10n.t("Add Rule")}
        </button>
        <button type="button" className="secondary" disabled={busy} onClick={onDone}>
          {l10n.t("Cancel")}
        </button>
      </div>
    </form>
  );
}
