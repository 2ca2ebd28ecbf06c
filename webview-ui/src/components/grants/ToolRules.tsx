import type { Task, ToolRule } from "@assent/protocol";
import type { ToolRules as Known } from "../../state/state.ts";
import { unreachable } from "../../unreachable.ts";
import { taskTitle } from "../tasks/TaskLine.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { visible } from "../ui/visible.ts";
import { when } from "../ui/words.ts";
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
    <section className="tool-rules" aria-label="Answers about tools">
      <h3>Tools that a model wants to use</h3>
      {failure !== undefined && <Refusal message={`They could not be read: ${failure}`} />}
      {entries !== undefined && (
        <p className="muted">
          {entries.length === 0
            ? "A model asks you each time, unless the setting assent.tools.autoApprove says otherwise."
            : "About these you said something for good; about all others a model asks you."}
        </p>
      )}
      {entries !== undefined && entries.length > 0 && (
        <ul className="grants" aria-label="Answers that are remembered">
          {entries.map((rule) => (
            <li key={rule.id}>
              <Rule rule={rule} title={tasks.find(({ id }) => id === rule.taskId)?.title} />
              <RevokeGrant
                of={`the answer about ${nameOf(rule)}`}
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
          <span className="muted">of {visible(serverName)}</span>
        </span>
      </p>
      <p>{ruleWords(rule, title)}</p>
      <p className="muted">
        Said in {by}, <time dateTime={new Date(createdAt).toISOString()}>{when(createdAt)}</time>.
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
        ? "Approved in one task, until it is closed."
        : `Approved in “${taskTitle({ title })}”, until that is closed.`;
    case "always":
      return toolName === undefined
        ? "Always approved."
        : "Always approved, until its server describes it in other words.";
    case "never":
      return "Never: the model is told that you declined.";
    default:
      return unreachable(remember);
  }
}
