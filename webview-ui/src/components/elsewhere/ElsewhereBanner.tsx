import type { Message } from "@assent/protocol";
import { useId } from "react";
import { Banner } from "../ui/Banner.tsx";
import { ContinueHere } from "./ContinueHere.tsx";
import { useAway } from "./ElsewhereContext.ts";
import { whatBecomesOf, whereItIs } from "./elsewhereWords.ts";

export interface ElsewhereBannerProps {
  /** The task's, as far as they are read. */
  readonly messages: readonly Message[];
  /** The task was live here until another window took it. */
  readonly moved: boolean;
}

/** Says in which window the open task is live, what continuing it here does, and does that. */
export function ElsewhereBanner({ messages, moved }: ElsewhereBannerProps) {
  const away = useAway();
  const consequenceId = useId();
  if (away === undefined) return null;
  const consequence = whatBecomesOf(messages, away.elsewhere);
  return (
    <Banner
      level={moved ? "warning" : "info"}
      actions={<ContinueHere describedBy={consequence && consequenceId} />}
    >
      <p>{whereItIs(away.elsewhere, moved)}</p>
      {consequence !== undefined && (
        <p id={consequenceId} className="muted">
          {consequence}
        </p>
      )}
    </Banner>
  );
}
