import type { McpURLElicitation } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { visible } from "../../lib/visible.ts";
import { AskMessage } from "../ask/AskMessage.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { URLBox } from "../ui/URLBox.tsx";
import { PageURL } from "./PageURL.tsx";
import { webPage } from "./webPage.ts";

export interface PageDetailsProps {
  readonly askId: string;
  readonly question: McpURLElicitation;
}

/** A page that a server asked the person to visit, with the whole URL. */
export function PageDetails({ askId, question }: PageDetailsProps) {
  const { serverName, message, url } = question;
  const page = webPage(url);
  return (
    <>
      <AskMessage {...{ askId, serverName }} text={message} />
      {"refused" in page ? (
        <URLBox>{visible(url)}</URLBox>
      ) : (
        <>
          <PageURL page={page} />
          <div className="actions">
            <CopyButton text={page.href} label={l10n.t("Copy URL")} />
          </div>
        </>
      )}
    </>
  );
}
