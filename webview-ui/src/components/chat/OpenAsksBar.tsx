import * as l10n from "@vscode/l10n";
import { plural } from "../../l10n.ts";
import { Icon } from "../ui/Icon.tsx";

export interface OpenAsksBarProps {
  readonly here: number;
  readonly elsewhere: number;
  /** Those that no task has yet. */
  readonly unclaimed: number;
  /** The person wants to see the oldest of those here. */
  readonly onShow: () => void;
  /** The person wants to see the one after the last that they saw so. */
  readonly onNext: () => void;
  /** The person wants to see all, here and elsewhere. */
  readonly onShowAll: () => void;
}

/** How many questions wait for the person, and the ways to them. */
export function OpenAsksBar(props: OpenAsksBarProps) {
  const { here, elsewhere, unclaimed, onShow, onNext, onShowAll } = props;
  if (here + elsewhere + unclaimed === 0) return null;
  const words = [
    here > 0 && plural(here, l10n.t("1 open question"), l10n.t("{0} open questions")),
    elsewhere > 0 &&
      (here > 0
        ? l10n.t("{0} more in other tasks", elsewhere)
        : plural(
            elsewhere,
            l10n.t("1 open question in other tasks"),
            l10n.t("{0} open questions in other tasks"),
          )),
    unclaimed > 0 &&
      plural(
        unclaimed,
        l10n.t("1 question of no task yet"),
        l10n.t("{0} questions of no task yet"),
      ),
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <div className="open-asks">
      <Icon name="bell-dot" />
      <span role="status">{words}</span>
      {here > 0 && (
        <button type="button" className="link" onClick={onShow}>
          {here + elsewhere === 1 ? l10n.t("Show") : l10n.t("Show Oldest")}
        </button>
      )}
      {here > 1 && (
        <button type="button" className="link" onClick={onNext}>
          {l10n.t("Next")}
        </button>
      )}
      {elsewhere + unclaimed > 0 && (
        <button type="button" className="link" onClick={onShowAll}>
          {l10n.t("Show All")}
        </button>
      )}
    </div>
  );
}
