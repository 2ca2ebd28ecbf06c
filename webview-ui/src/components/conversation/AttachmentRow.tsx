import type { Attachment } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId } from "react";
import { filled } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { ContentBlocks, Picture } from "../content/ContentBlocks.tsx";
import { parkedFocus } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";

export interface AttachmentRowProps {
  readonly attachment: Attachment;
  /** Names the row in the view's state; unique in the panel. */
  readonly keep: string;
  /** The element that takes the focus for the row. */
  readonly elementId: string;
}

/** A file that the person gave to the conversation. */
export function AttachmentRow({ attachment, keep, elementId }: AttachmentRowProps) {
  const headingId = useId();
  const { name, content } = attachment;
  return (
    <article id={elementId} className="settled" aria-labelledby={headingId} {...parkedFocus}>
      <h2 id={headingId} className="settled-head">
        <Icon name="attach" />{" "}
        {filled(l10n.t("You attached {0}"), <span className="name">{visible(name)}</span>)}
      </h2>
      {content.type === "image" ? (
        <Picture data={content.data} mimeType={content.mimeType} alt={name} keep={keep} />
      ) : (
        <ContentBlocks blocks={[content]} texts="plain" keep={keep} />
      )}
    </article>
  );
}
