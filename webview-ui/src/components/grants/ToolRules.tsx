import type { Task, ToolRule } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { taskTitle, when } from "../../lib/format.ts";
import { filled } from "../../lib/l10n.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { visible } from "../../lib/visible.ts";
import type { ToolRules as Known } from "../../store/grants.ts";
import { Refusal } from "../ui/Refusal.tsx";
import { RevokeGrant } from "./RevokeGrant.tsx";

export interface ToolRulesProps {
  readonly known: Known;
  /** For the titles of the tasks that a rule is limited to. */
  readonly tasks: readonly Task[];
  /** Rejects where the rule holds on. */
  readonly onRemove: (ruleId: string) => Promise<void>;
}

/** What the person said about a model's use of tools and resources that holds from then on. */
export function ToolRules({ known: { entries, failure }, tasks, onRemove }: ToolRulesProps) {
  return (
    <section className="tool-rules" aria-label={l10n.t("Answers about tools")}>
      <h3>{l10n.t("Tools that a model wants to use")}</h3>
      {failure !== undefined && (
        <Refusal message={l10n.t("They could not be read: {0}", failure)} />
      )}
      {entries !== undefined && (
        <p className="muted">
          {entries.length === 0
            ? l10n.t(
                "A model asks you each time, unless the setting assent.tools.autoApprove says otherwise.",
              )
            : l10n.t(
                "Your decisions about these tools are saved. A model asks you about all others.",
              )}
        </p>
      )}
      {entries !== undefined && entries.length > 0 && (
        <ul className="grants" aria-label={l10n.t("Answers that are remembered")}>
          {entries.map((rule) => (
            <li key={rule.id}>
              <Rule rule={rule} title={tasks.find(({ id }) => id === rule.taskId)?.title} />
              <RevokeGrant
                of={l10n.t("the answer about {0}", nameOf(rule))}
                onRevoke={() => onRemove(rule.id)}
              />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Rule({ rule, title }: { readonly rule: ToolRule; readonly title: string | undefined }) {
  const { serverName, by, createdAt } = rule;
  return (
    <>
      <p className="grant-head">
        <span>
          <strong className="name">{nameOf(rule)}</strong>{" "}
          <span className="muted">{l10n.t("of {0}", visible(serverName))}</span>
        </span>
      </p>
      <p>{ruleWords(rule, title)}</p>
      <p className="muted">
        {filled(
          l10n.t("Said in {0}, {1}."),
          by,
          <time dateTime={new Date(createdAt).toISOString()}>{when(createdAt)}</time>,
        )}
      </p>
    </>
  );
}

function nameOf({ toolName, resourceUri = "" }: ToolRule): string {
  return visible(toolName ?? resourceUri);
}

function ruleWords({ remember, toolName }: ToolRule, title: string | undefined): string {
  switch (remember) {
    case "task":
      return title === undefined
        ? l10n.t("Approved in one task, until it is closed.")
        : l10n.t("Approved in “{0}”, until that is closed.", taskTitle({ title }));
    case "always":
      return toolName === undefined
        ? l10n.t("Always approved.")
        : l10n.t("Always approved, until its server describes it in other words.");
    case "never":
      return l10n.t("Never: the model is told that you declined.");
    default:
      return unreachable(remember);
  }
}
