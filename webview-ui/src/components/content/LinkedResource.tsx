import type { ResourceLink } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { createContext, useContext } from "react";
import { visible } from "../../lib/visible.ts";
import { Refusal } from "../ui/Refusal.tsx";
import { useStart } from "../ui/useStart.ts";

/** Reads a resource of the server that links to it, as a call of the task. Rejects if the call cannot start. */
export type ReadResource = (uri: string) => Promise<void>;

/** Undefined where a link cannot be followed: no server is known that could read it. */
export const ReadResourceContext = createContext<ReadResource | undefined>(undefined);

/**
 * A link to a resource. It is followed only on a press, and only by its server: the panel opens no URI by itself.
 */
export function LinkedResource({ link }: { readonly link: ResourceLink }) {
  const { uri, name, title, description, mimeType } = link;
  const called = title || name;
  const read = useContext(ReadResourceContext);
  return (
    <div className="resource">
      {called !== "" && <span className="resource-name">{visible(called)}</span>}
      <span className="link-target">{visible(uri)}</span>
      {mimeType !== undefined && <span className="muted">{visible(mimeType)}</span>}
      {description !== undefined && <p className="muted">{visible(description)}</p>}
      {read !== undefined && <ReadButton link={link} read={read} />}
    </div>
  );
}

interface ReadButtonProps {
  readonly link: ResourceLink;
  readonly read: ReadResource;
}

function ReadButton({ link: { uri, name, title }, read }: ReadButtonProps) {
  const { busy, refusal, start } = useStart(() => read(uri));
  return (
    <>
      <button
        type="button"
        className="link"
        aria-label={l10n.t("Read the resource {0}", visible(title || name || uri))}
        aria-disabled={busy}
        onClick={start}
      >
        {l10n.t("Read")}
      </button>
      {refusal !== undefined && (
        <Refusal message={refusal instanceof Error ? refusal.message : String(refusal)} />
      )}
    </>
  );
}
