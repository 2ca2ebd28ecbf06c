import type { Model } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import type { Attached } from "../../viewState.ts";
import { Icon } from "../ui/Icon.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { visible } from "../ui/visible.ts";
import { size } from "../ui/words.ts";

export interface AttachedListProps {
  readonly attached: readonly Attached[];
  /** Why something was not attached. */
  readonly refusals: readonly string[];
  /** The model that gets it; absent where that is not known. */
  readonly model: Model | undefined;
  readonly onRemove: (key: number) => void;
}

/** What goes along with a message, each to be taken out again. */
export function AttachedList({ attached, refusals, model, onRemove }: AttachedListProps) {
  const unseen = attached.some(isImage) && model !== undefined && model.images !== true;
  return (
    <>
      {attached.length > 0 && (
        <ul className="attached" aria-label={l10n.t("Attached")}>
          {attached.map((one) => (
            <li key={one.key}>
              <Icon name={iconOf(one)} spin={isRead(one)} />
              <span className="attached-name">{visible(nameOf(one))}</span>
              <span className="muted">{one.kind === "file" ? size(one.size) : readWords(one)}</span>
              <IconButton
                icon="close"
                label={l10n.t("Remove {0}", nameOf(one))}
                onClick={() => onRemove(one.key)}
              />
            </li>
          ))}
        </ul>
      )}
      {unseen && (
        <p className="muted">
          {l10n.t("{0} is not known to see images: it is told their names.", visible(model.name))}
        </p>
      )}
      {refusals.length > 0 && (
        <div role="alert">
          {refusals.map((refusal) => (
            <p key={refusal} className="refusal">
              <Icon name="error" />
              <span>{visible(refusal)}</span>
            </p>
          ))}
        </div>
      )}
    </>
  );
}

function nameOf(one: Attached): string {
  return one.kind === "file" ? one.file.name : one.title;
}

function isImage(one: Attached): boolean {
  return one.kind === "file" && one.file.content.type === "image";
}

function isRead(one: Attached): boolean {
  return one.kind === "resource" && one.messageId === undefined;
}

function iconOf(one: Attached): string {
  if (isRead(one)) return "loading";
  return one.kind === "resource" ? "references" : isImage(one) ? "file-media" : "file";
}

function readWords(one: Extract<Attached, { kind: "resource" }>): string {
  return one.messageId === undefined ? l10n.t("is being read…") : l10n.t("of {0}", one.serverName);
}
