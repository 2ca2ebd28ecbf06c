import type { FileChange, HostPermission } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { parseExact, writeExact } from "../../lib/exactJSON.ts";
import { filled } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { LongVerbatim } from "../content/LongVerbatim.tsx";
import { Diff } from "../ui/Diff.tsx";

export interface PermissionDetailsProps {
  readonly question: HostPermission;
  readonly keep: string;
}

/** What an agent wants to do, exactly; then where, who, and what the model says about it. */
export function PermissionDetails({ question, keep }: PermissionDetailsProps) {
  const { command, changes = [], plan, folder, agent, claim, askFirst } = question;
  const rest = restOf(question);
  return (
    <>
      {command !== undefined && <LongVerbatim text={command} />}
      {changes.map((change, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a change has no name but its place.
        <Change key={index} change={change} keep={`${keep}:change ${index}`} />
      ))}
      {plan !== undefined && <LongVerbatim text={plan} />}
      {rest !== undefined && <LongVerbatim text={rest} />}
      {askFirst !== undefined && <p>{visible(askFirst)}</p>}
      {folder !== undefined && (
        <p>{filled(l10n.t("In {0}"), <span className="name">{visible(folder)}</span>)}</p>
      )}
      {agent !== undefined && <p>{l10n.t("A sub-agent asks: {0}", visible(agent))}</p>}
      {claim !== undefined && (
        <p className="muted">{l10n.t("The model says about it: {0}", visible(claim))}</p>
      )}
    </>
  );
}

function Change({ change, keep }: { readonly change: FileChange; readonly keep: string }) {
  const { path, old, all = false } = change;
  return (
    <>
      <p>
        <span className="name">{visible(path)}</span>
      </p>
      {old === undefined ? (
        <>
          <p className="muted">{l10n.t("The whole file becomes:")}</p>
          <LongVerbatim text={change.new} />
        </>
      ) : (
        <Diff before={old} after={change.new} keep={keep} />
      )}
      {all && <p>{l10n.t("Every place with this text changes.")}</p>}
    </>
  );
}

/** The members of the tools that are drawn in another way. */
const drawn: Readonly<Record<string, readonly string[]>> = {
  command: ["command", "description"],
  plan: ["plan"],
  changes: ["file_path", "content", "old_string", "new_string", "replace_all", "edits"],
};

/** The rest of the input, as JSON; undefined if all of it is drawn. */
function restOf({ command, changes, plan, input }: HostPermission): string | undefined {
  const shown = [
    ...((command !== undefined && drawn["command"]) || []),
    ...((plan !== undefined && drawn["plan"]) || []),
    ...((changes !== undefined && drawn["changes"]) || []),
  ];
  const all = parseExact(input);
  if (shown.length === 0 || typeof all !== "object" || all === null) return writeExact(all, 2);
  const rest = Object.entries(all).filter(([name]) => !shown.includes(name));
  return rest.length === 0 ? undefined : writeExact(Object.fromEntries(rest), 2);
}
