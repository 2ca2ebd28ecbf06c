import { Icon } from "../ui/Icon.tsx";
import { count } from "../ui/words.ts";

export interface OpenAsksBarProps {
  readonly here: number;
  readonly elsewhere: number;
  /** The person wants to see the oldest. */
  readonly onShow: () => void;
  /** The person wants to see the one after the last that they saw so. */
  readonly onNext: () => void;
}

/** How many questions wait for the person, and the way to the oldest. */
export function OpenAsksBar({ here, elsewhere, onShow, onNext }: OpenAsksBarProps) {
  if (here + elsewhere === 0) return null;
  const words =
    here === 0
      ? `${count(elsewhere, "open question")} in other tasks`
      : [
          count(here, "open question"),
          elsewhere > 0 ? `${elsewhere} more in other tasks` : undefined,
        ]
          .filter(Boolean)
          .join(", ");
  return (
    <div className="open-asks">
      <Icon name="bell-dot" />
      <span role="status">{words}</span>
      <button type="button" className="link" onClick={onShow}>
        {here + elsewhere === 1 ? "Show" : "Show Oldest"}
      </button>
      {here > 1 && (
        <button type="button" className="link" onClick={onNext}>
          Next
        </button>
      )}
    </div>
  );
}
