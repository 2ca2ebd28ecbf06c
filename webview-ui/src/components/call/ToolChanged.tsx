import type { DiffLine, ToolChange } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { when } from "../../lib/format.ts";
import { visible } from "../../lib/visible.ts";
import { Clamp } from "../ui/Clamp.tsx";
import { Icon } from "../ui/Icon.tsx";

export interface ToolChangedProps {
  readonly change: ToolChange;
  readonly keep: string;
}

/** Says that a tool or its server has changed since it was last let run, with the difference. */
export function ToolChanged({ change, keep }: ToolChangedProps) {
  const { by, at, server = false, tool = false, lines, truncated = false } = change;
  return (
    <div className="tool-changed">
      <p className="danger-line">
        <Icon name="warning" />
        <span>
          {l10n.t(
            "This tool or its server has changed since you allowed it in {0} ({1}).",
            by,
            when(at),
          )}
        </span>
      </p>
      {server && <p>{l10n.t("The server's configuration has changed.")}</p>}
      {tool && lines === undefined && (
        <p>
          {l10n.t(
            "Its server describes it differently now. The earlier description was not saved.",
          )}
        </p>
      )}
      {lines !== undefined && (
        <>
          <p>{l10n.t("Its server describes it differently now:")}</p>
          <Clamp keep={`${keep}:changed`} text={lines.map(({ text }) => text).join("\n")}>
            <LineDiff lines={lines} />
          </Clamp>
          {truncated && <p className="muted">{l10n.t("There are more changes.")}</p>}
        </>
      )}
    </div>
  );
}

/** Shows each line with a sign. Removed lines are struck out, and new lines are marked. */
function LineDiff({ lines }: { readonly lines: readonly DiffLine[] }) {
  return (
    <pre className="line-diff">
      {lines.map(({ kind, text }, index) => {
        const line = visible(text);
        switch (kind) {
          case "removed":
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no name but its place.
            return <del key={index}>{`- ${line}\n`}</del>;
          case "added":
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no name but its place.
            return <ins key={index}>{`+ ${line}\n`}</ins>;
          case "same":
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no name but its place.
            return <span key={index}>{`  ${line}\n`}</span>;
          case "gap":
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no name but its place.
            return <span key={index}>{"…\n"}</span>;
          default:
            return kind satisfies never;
        }
      })}
    </pre>
  );
}
