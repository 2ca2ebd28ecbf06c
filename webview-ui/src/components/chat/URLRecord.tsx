import type { McpURLElicitation, Outcome } from "@assent/protocol";
import { useId } from "react";
import { Disclosure } from "../ui/Disclosure.tsx";
import { visible } from "../ui/visible.ts";
import { AskMessage } from "./AskMessage.tsx";
import { during } from "./during.ts";
import { askElementId, parkedFocus } from "./focus.ts";
import { OutcomeLine } from "./OutcomeLine.tsx";
import { PageURL } from "./PageURL.tsx";
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
  const headingId = useId();
  return (
    <section
      id={askElementId(askId)}
      className="settled"
      aria-labelledby={headingId}
      {...parkedFocus}
    >
      <h2 id={headingId} className="settled-head">
        <span className="name">{serverName}</span> wanted a page opened{" "}
        <span className="muted">{during(question)}</span>
      </h2>
      <OutcomeLine
        outcome={outcome}
        yes={awaitsCompletion ? "Opened, and marked as done" : "Opened"}
        no="Declined"
      />
      <Disclosure keep={`${keep}:page`} summary="The page">
        <AskMessage {...{ askId, serverName }} text={message} />
        {"refused" in page ? <p className="page-url">{visible(url)}</p> : <PageURL page={page} />}
      </Disclosure>
    </section>
  );
}
