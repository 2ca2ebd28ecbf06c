import type { Model } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { size } from "../../lib/format.ts";
import { visible } from "../../lib/visible.ts";
import type { Attached } from "../../view/viewState.ts";
import { Icon } from "../ui/Icon.tsx";
import { IconButton } from "../ui/IconButton.tsx";

export interface AttachedListProps {
  readonly attached: readonly Attached[];
  /** Why something was not attached. */
  readonly refusals: readonly string[];
  /** The model that gets it; undefined if that is not known. */
  readonly model: Model | undefined;
  readonly onRemove: (key: number) => void;
}

/** The attachments of a message, each with a button to remove it. */
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
              <span className="muted">{wordsOf(one)}</span>
              <IconButton
                icon="close"
                label={l10n.t("Remove {0}", nameOf(one))}
                onClick={() => onRemove(one.key)}
              />
            </li>
          ))}
        </ul>
      )}
      {attached.some(({ kind }) => kind === "lost") && (
        <p className="muted">
          {l10n.t("Attachments that were not saved are not sent. Attach them again.")}
        </p>
      )}
      {unseen && (
        <p className="muted">
          {l10n.t("{0} may not read images: only their names are sent.", visible(model.name))}
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
  return one.kind === "resource" ? one.title : one.name;
}

function isImage(one: Attached): boolean {
  return one.kind === "file" && one.file?.content.type === "image";
}

/** Whether it is still loading and cannot be sent yet. */
export function isRead(one: Attached): boolean {
  return (
    (one.kind === "resource" && one.messageId === undefined) ||
    (one.kind === "file" && one.file === undefined)
  );
}

function iconOf(one: Attached): string {
  if (isRead(one)) return "loading";
  if (one.kind === "lost") return "warning";
  return one.kind === "resource" ? "references" : isImage(one) ? "file-media" : "file";
}

function wordsOf(one: Attached): string {
  if (isRead(one)) return l10n.t("loading…");
  switch (one.kind) {
    case "file":
      return size(one.size);
    case "resource":
      return l10n.t("of {0}", one.serverName);
    case "lost":
      return l10n.t("not kept");
  }
}
