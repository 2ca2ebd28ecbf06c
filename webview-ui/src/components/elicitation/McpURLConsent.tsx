import * as l10n from "@vscode/l10n";
import { useId } from "react";
import { filled } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { AcceptButton } from "../ask/AcceptButton.tsx";
import { AskCard } from "../ask/AskCard.tsx";
import { AskMessage } from "../ask/AskMessage.tsx";
import { DeclineButton } from "../ask/DeclineButton.tsx";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { useReading } from "../ask/useReading.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { URLBox } from "../ui/URLBox.tsx";
import { PageURL } from "./PageURL.tsx";
import { webPage } from "./webPage.ts";

export interface McpURLConsentProps {
  readonly askId: string;
  readonly serverName: string;
  readonly toolNames: readonly string[];
  readonly resourceUri?: string | undefined;
  readonly message: string;
  readonly url: string;
  /** The page was opened, and the server waits for the person to finish there. */
  readonly waiting: boolean;
  /** The page is being opened. A browser may need another click for that. */
  readonly opening: boolean;
  /** An action is running. No other is possible until it is confirmed or refused. */
  readonly busy: boolean;
  /** Why the last answer was refused, or the page was not opened. */
  readonly refusal: string | undefined;
  /** The person has seen the whole URL and opens it, perhaps again. */
  readonly onOpen: () => void;
  /** The person has finished at the page. */
  readonly onDone: () => void;
  /** The person declined. */
  readonly onDecline: () => void;
  /** The person declined this and all later requests of the server. */
  readonly onDeclineAll: () => void;
  /** The person dismissed the question. */
  readonly onCancel: () => void;
}

/** A page that a server wants the person to visit. Nothing is opened or fetched before they agree. */
export function McpURLConsent(props: McpURLConsentProps) {
  const {
    askId,
    serverName,
    toolNames,
    resourceUri,
    message,
    url,
    waiting,
    opening,
    busy,
    refusal,
  } = props;
  const { onOpen, onDone, onDecline, onDeclineAll, onCancel } = props;
  const reading = useReading();
  const armed = useClickGuard(waiting ? "waiting" : "asked", reading.state);
  const ready = armed && !busy;
  const page = webPage(url);
  const refused = "refused" in page;
  const warningsId = useId();
  return (
    <AskCard
      {...{ askId, serverName, toolNames, resourceUri, reading, busy }}
      icon="link-external"
      does={l10n.t("{0} wants you to open a page")}
      asks={message}
      problems={
        <>
          {refused && <Refusal message={page.refused} />}
          {refusal !== undefined && <Refusal message={refusal} />}
        </>
      }
      actions={
        <>
          {waiting && (
            <AcceptButton
              key="done"
              label={l10n.t("Done")}
              {...{ reading, ready }}
              onClick={onDone}
            />
          )}
          {!refused && (
            // It stays the same element when it becomes the second button, so that it keeps the focus.
            <AcceptButton
              key="open"
              label={waiting ? l10n.t("Open Again") : l10n.t("Open in Browser")}
              isSecond={waiting}
              {...{ reading, ready }}
              describedBy={page.warnings.length > 0 ? warningsId : undefined}
              onClick={onOpen}
            />
          )}
          {waiting ? (
            <button
              key="no"
              type="button"
              className="secondary"
              aria-disabled={!ready}
              onClick={() => {
                if (ready) onCancel();
              }}
            >
              {l10n.t("Cancel")}
            </button>
          ) : (
            <DeclineButton key="no" {...{ serverName, ready, onDecline, onCancel, onDeclineAll }} />
          )}
        </>
      }
    >
      <AskMessage {...{ askId, serverName }} text={message} headed />
      {refused ? (
        <URLBox>{visible(url)}</URLBox>
      ) : (
        <>
          <PageURL page={page} />
          <ul id={warningsId} className="page-warnings">
            {page.warnings.map(({ kind, words }) => (
              <li key={kind}>
                <Icon name="warning" />
                <span>{words}</span>
              </li>
            ))}
          </ul>
          <div className="actions">
            <CopyButton text={page.href} label={l10n.t("Copy URL")} />
          </div>
        </>
      )}
      <p role="status">
        {opening && l10n.t("Opening the page…")}
        {waiting &&
          !opening &&
          !refused &&
          filled(l10n.t("Waiting for you to finish at {0}."), <strong>{page.domain}</strong>)}
      </p>
    </AskCard>
  );
}
