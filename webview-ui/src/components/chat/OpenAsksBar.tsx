import { Icon } from "../ui/Icon.tsx";
import { count } from "../ui/words.ts";

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
    here > 0 && count(here, "open question"),
    elsewhere > 0 &&
      (here > 0
        ? `${elsewhere} more in other tasks`
        : `${count(elsewhere, "open question")} in other tasks`),
    unclaimed > 0 && `${count(unclaimed, "question")} of no task yet`,
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <div className="open-asks">
      <Icon name="bell-dot" />
      <span role="status">{words}</span>
      {here > 0 && (
        <button type="button" className="link" onClick={onShow}>
          {here + elsewhere === 1 ? "Show" : "Show Oldest"}
        </button>
      )}
      {here > 1 && (
        <button type="button" className="link" onClick={onNext}>
          Next
        </button>
      )}
      {elsewhere + unclaimed > 0 && (
        <button type="button" className="link" onClick={onShowAll}>
          Show All
        </button>
      )}
    </div>
  );
}
