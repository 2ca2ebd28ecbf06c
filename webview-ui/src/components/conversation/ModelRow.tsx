import type { ModelMessage, ModelToolUse } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId } from "react";
import { filled } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { Markdown } from "../content/Markdown.tsx";
import { SamplingUsageLine } from "../sampling/SamplingUsageLine.tsx";
import { Clamp } from "../ui/Clamp.tsx";
import { CopyIcon } from "../ui/CopyIcon.tsx";
import { parkedFocus } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { endWords, type GoOn, leftOutWords } from "./modelEnd.ts";

export interface ModelRowProps {
  readonly said: ModelMessage;
  /** The calls that a question shows already. */
  readonly asked: readonly string[];
  /** Names the row in the view's state; unique in the panel. */
  readonly keep: string;
  /** The element that takes the focus for the row. */
  readonly elementId: string;
  /** How the conversation can continue, if it ended early here. */
  readonly goOn: GoOn["label"] | undefined;
  readonly onGoOn: () => void;
  /** Undefined if no branch can be created. */
  readonly onBranch: (() => void) | undefined;
}

/** A model's message, while it is being written and after. */
export function ModelRow(props: ModelRowProps) {
  const { said, asked, keep, elementId, goOn, onGoOn, onBranch } = props;
  const { model, progress, end, leftOut, usage, toolUses = [] } = said;
  const text = progress?.text ?? said.text ?? "";
  const headingId = useId();
  const words = end && endWords(end.reason);
  return (
    <article
      id={elementId}
      className="said said-model"
      aria-labelledby={headingId}
      aria-busy={end === undefined}
      {...parkedFocus}
    >
      <header className="said-head">
        <h2 id={headingId}>
          {end === undefined && <Icon name="loading" spin />}{" "}
          {visible(model?.name ?? l10n.t("Model"))}
        </h2>
        {end !== undefined && (
          <div className="said-tools">
            {onBranch !== undefined && (
              <IconButton icon="git-branch" label={l10n.t("Branch from Here")} onClick={onBranch} />
            )}
            {text !== "" && <CopyIcon text={text} label={l10n.t("Copy Message")} />}
          </div>
        )}
      </header>
      {leftOut !== undefined && <p className="muted">{leftOutWords(leftOut)}</p>}
      {text !== "" && <Markdown text={text} code={end === undefined ? "plain" : "highlighted"} />}
      {toolUses.map(
        (use) =>
          !asked.includes(use.id) && (
            <NotCalled key={use.id} use={use} keep={`${keep}:${use.id}`} />
          ),
      )}
      {words !== undefined && (
        <p className={end?.reason === "failed" ? "ending-lost" : "muted"}>
          {words}
          {end?.detail !== undefined && end.detail !== words && ` ${visible(end.detail)}`}
        </p>
      )}
      {words === undefined && end?.detail !== undefined && (
        <p className="muted">{visible(end.detail)}</p>
      )}
      {goOn !== undefined && (
        <div className="actions">
          <button type="button" className="secondary" onClick={onGoOn}>
            {goOn}
          </button>
        </div>
      )}
      {usage !== undefined && <SamplingUsageLine usage={usage} />}
    </article>
  );
}

interface NotCalledProps {
  readonly use: ModelToolUse;
  readonly keep: string;
}

/** A call that the model requested and that was not made. A call that was made has its own row. */
function NotCalled({ use, keep }: NotCalledProps) {
  const { name, serverName, toolName, error } = use;
  if (error === undefined) return null;
  return (
    <div className="not-called">
      <p>
        <Icon name="circle-slash" />
        <span>
          {filled(
            serverName === undefined
              ? l10n.t("{0} was not called.")
              : l10n.t("{0} of {1} was not called."),
            <span className="name">{visible(toolName ?? name)}</span>,
            serverName,
          )}
        </span>
      </p>
      <Clamp keep={keep} text={error}>
        <p className="muted">{l10n.t("The model was told: {0}", visible(error))}</p>
      </Clamp>
    </div>
  );
}
