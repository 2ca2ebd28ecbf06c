import type { McpURLElicitation, Outcome } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { filled } from "../../l10n.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";
import { visible } from "../ui/visible.ts";
import { when } from "../ui/words.ts";
import { AskMessage } from "./AskMessage.tsx";
import { during } from "./during.ts";
import { OutcomeLine } from "./OutcomeLine.tsx";
import { PageURL } from "./PageURL.tsx";
import { SettledAsk } from "./SettledAsk.tsx";
import { webPage } from "./webPage.ts";

export interface URLRecordProps {
  readonly askId: string;
  readonly question: McpURLElicitation;
  readonly outcome: Outcome;
  readonly keep: string;
}

/** A page that a server sent the person to, once that is settled: which one, and what became of it. */
export function URLRecord({ askId, question, outcome, keep }: URLRecordProps) {
  const { serverName, message, url, awaitsCompletion = false } = question;
  const page = webPage(url);
  return (
    <SettledAsk
      askId={askId}
      head={
        <>
          {filled(l10n.t("{0} wanted a page opened"), <span className="name">{serverName}</span>)}{" "}
          <span className="muted">{during(question)}</span>
        </>
      }
    >
      <OutcomeLine
        outcome={outcome}
        yes={awaitsCompletion ? l10n.t("Opened, and marked as done") : l10n.t("Opened")}
        no={l10n.t("Declined")}
        subject={serverName}
      />
      {outcome.completedAt !== undefined && (
        <p className="outcome" role="status">
          <Icon name="pass" />
          <span>
            {filled(
              l10n.t("The server said that it is complete at {0}"),
              <span className="muted">{when(outcome.completedAt)}</span>,
            )}
          </span>
        </p>
      )}
      <Disclosure keep={`${keep}:page`} summary={l10n.t("The page")}>
        <AskMessage {...{ askId, serverName }} text={message} />
        {"refused" in page ? (
          <p className="page-url">{visible(url)}</p>
        ) : (
          <>
            <PageURL page={page} />
            <div className="actions">
              <CopyButton text={page.href} label={l10n.t("Copy URL")} />
            </div>
          </>
        )}
      </Disclosure>
    </SettledAsk>
  );
}
