import * as l10n from "@vscode/l10n";
import { useContext } from "react";
import type { MenuEntry } from "../ui/Menu.tsx";
import { SplitButton } from "../ui/SplitButton.tsx";
import { DockedContext } from "./contexts.ts";
import { TerminalButton } from "./TerminalButton.tsx";

export interface DeclineButtonProps {
  readonly serverName: string;
  /** "Decline", if it is not another word. */
  readonly label?: string;
  readonly ready: boolean;
  readonly busy?: boolean;
  /** The person declined. */
  readonly onDecline: () => void;
  /** The person dismissed the question: MCP's "cancel". */
  readonly onCancel: () => void;
  /** The person declined this and all later requests of the server; undefined if the question has no such answer. */
  readonly onDeclineAll?: () => void;
  /** Additional entries for this kind of question. */
  readonly more?: readonly MenuEntry[];
}

/**
 * A button to decline a question, with a menu of the other ways to refuse it. What an agent's host asks, the person can
 * also answer there.
 */
export function DeclineButton(props: DeclineButtonProps) {
  const { serverName, ready, busy = false, onDecline, onCancel, onDeclineAll, more = [] } = props;
  const { label = l10n.t("Decline") } = props;
  const { ofHost = false } = useContext(DockedContext);
  const title = l10n.t("Says no. Escape sets the question aside, and it stays open.");
  if (ofHost) {
    return (
      <>
        <SplitButton
          kind="secondary"
          {...{ label, title, ready, busy }}
          moreLabel=""
          onClick={onDecline}
          entries={[]}
        />
        <TerminalButton {...{ ready, busy }} onClick={onCancel} />
      </>
    );
  }
  return (
    <SplitButton
      kind="secondary"
      label={label}
      title={title}
      moreLabel={l10n.t("More Ways to Decline")}
      {...{ ready, busy }}
      onClick={onDecline}
      entries={[
        ...more,
        ...(onDeclineAll === undefined
          ? []
          : [
              {
                label: l10n.t("Decline and stop asking"),
                about: l10n.t(
                  "All further questions from {0} are declined, in every task, until Assent starts again.",
                  serverName,
                ),
                onChoose: onDeclineAll,
              },
            ]),
        { label: l10n.t("Dismiss without an answer"), onChoose: onCancel },
      ]}
    />
  );
}
