import type { UnattributedAsk } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";
import { filled } from "../../lib/l10n.ts";
import { wanted } from "../ask/askTitle.tsx";
import { Icon } from "../ui/Icon.tsx";

export interface PossibleAskProps {
  readonly unattributed: readonly UnattributedAsk[];
  readonly taskId: string;
  readonly onShow: (askId: string) => void;
}

/** The line in a task of an unattributed question that a call of the task may have caused. */
export function PossibleAsk({ unattributed, taskId, onShow }: PossibleAskProps) {
  const ask = unattributed.find(
    ({ workspace, candidates = [] }) =>
      workspace === undefined && candidates.some((call) => call.taskId === taskId),
  );
  if (ask === undefined) return null;
  const { id, serverName, wants, text = "" } = ask;
  const { icon, words } = wanted(wants);
  const asks = filled(words, <span className="name">{serverName}</span>);
  return (
    <section className="dock dock-collapsed" aria-label={l10n.t("May belong to this task")}>
      <button type="button" className="dock-tools dock-line" onClick={() => onShow(id)}>
        <Icon name={icon} />
        <span className="dock-title">
          {text !== "" && <strong className="name">{brief(text)}</strong>}{" "}
          <span className="muted">{asks}</span>
        </span>
        <Icon name="chevron-up" />
      </button>
    </section>
  );
}
