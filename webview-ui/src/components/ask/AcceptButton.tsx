import * as l10n from "@vscode/l10n";
import { useContext } from "react";
import { type AcceptKeys, acceptKeys } from "../../lib/keys.ts";
import type { MenuEntry } from "../ui/Menu.tsx";
import { SplitButton } from "../ui/SplitButton.tsx";
import { DockedContext } from "./contexts.ts";
import type { Reading } from "./useReading.ts";

/** Another way to accept. */
export interface AcceptEntry extends MenuEntry {
  /** It opens a form that has a button of its own, and answers nothing yet. */
  readonly opens?: boolean;
}

export interface AcceptButtonProps {
  readonly label: string;
  readonly reading: Reading;
  /** The button can be pressed. */
  readonly ready: boolean;
  readonly disabled?: boolean;
  readonly busy?: boolean;
  /** The approved call may destroy something. */
  readonly danger?: boolean;
  /** Another button is the first one now, and has the keys. */
  readonly isSecond?: boolean;
  readonly describedBy?: string | undefined;
  /** The button submits the surrounding form, which asks the reading itself. */
  readonly submits?: boolean;
  readonly onClick?: () => void;
  readonly moreLabel?: string;
  readonly entries?: readonly AcceptEntry[];
}

/** The first button of a question. While something that it approves was never in view, it scrolls there. */
export function AcceptButton(props: AcceptButtonProps) {
  const { label: words, reading, danger = false, isSecond = false, onClick, ...rest } = props;
  const { moreLabel = "", entries = [], ...button } = rest;
  const { filedIn } = useContext(DockedContext);
  const label =
    filedIn === undefined
      ? words
      : l10n.t({
          message: "{0}, {1}",
          args: [words, filedIn],
          comment: ["A button, and where its answer is filed: Submit, in “Deploy”."],
        });
  const keys = acceptKeys();
  const isUnread = reading.state === "unread";
  return (
    <SplitButton
      kind={isSecond ? "secondary" : danger ? "primary danger" : "primary"}
      label={isUnread ? l10n.t("Read on") : label}
      {...(!isSecond && {
        keys: keys.short,
        title: isUnread
          ? l10n.t("Read on: you have not seen all of it yet ({0})", keys.words)
          : pressedBy(label, keys),
      })}
      {...{ moreLabel, ...button }}
      onClick={() => {
        if (button.submits === true || !reading.holds()) onClick?.();
      }}
      entries={entries.map(({ opens = false, ...entry }) => ({
        ...entry,
        onChoose: () => {
          if (opens || !reading.holds()) entry.onChoose();
        },
      }))}
    />
  );
}

/** The tooltip of a button that keys press. */
export function pressedBy(label: string, { words }: AcceptKeys): string {
  return l10n.t({
    message: "{0} ({1})",
    args: [label, words],
    comment: ["A button and its keys."],
  });
}
