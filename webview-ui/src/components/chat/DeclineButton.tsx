import * as l10n from "@vscode/l10n";
import { type MenuEntry, SplitButton } from "../ui/SplitButton.tsx";

export interface DeclineButtonProps {
  readonly serverName: string;
  readonly ready: boolean;
  readonly busy?: boolean;
  /** The person said no. */
  readonly onDecline: () => void;
  /** The person put the question away and said nothing. */
  readonly onCancel: () => void;
  /** The person said no to this and to whatever else the server asks for, where that can be said. */
  readonly onDeclineAll?: () => void;
  /** Ways to say no that only this question has. */
  readonly more?: readonly MenuEntry[];
}

/** Every way to say no, or nothing. */
export function DeclineButton(props: DeclineButtonProps) {
  const { serverName, ready, busy = false, onDecline, onCancel, onDeclineAll, more = [] } = props;
  return (
    <SplitButton
      kind="secondary"
      label={l10n.t("Decline")}
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
                  "Whatever else {0} asks you for is declined, in every task, until Assent starts again.",
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
