import { useState } from "react";
import { Refusal } from "../ui/Refusal.tsx";
import { AskCard } from "./AskCard.tsx";
import { Markdown } from "./Markdown.tsx";
import { useArmed } from "./useArmed.ts";

export interface McpURLConsentProps {
  readonly askId: string;
  readonly serverName: string;
  readonly toolNames: readonly string[];
  readonly message: string;
  readonly url: string;
  /** The page was opened, and the server waits for what the person does there. */
  readonly waiting: boolean;
  /** Something is under way: until it is confirmed or refused, there is nothing else. */
  readonly busy: boolean;
  /** Why the last answer was refused, or the page was not opened. */
  readonly refusal: string | undefined;
  /** The person has seen the whole URL and wants it opened, perhaps once more. */
  readonly onOpen: () => void;
  /** The person did there what was to be done. */
  readonly onDone: () => void;
  /** The person said no. */
  readonly onDecline: () => void;
  /** The person put the question away and said nothing. */
  readonly onCancel: () => void;
}

/** A page that a server sends the person to. Nothing is opened, or fetched, before they say so. */
export function McpURLConsent(props: McpURLConsentProps) {
  const { askId, serverName, toolNames, message, url, waiting, busy, refusal } = props;
  const { onOpen, onDone, onDecline, onCancel } = props;
  const armed = useArmed(waiting ? "waiting" : "asked");
  const ready = armed && !busy;
  const button = (act: () => void) => ({
    type: "button" as const,
    "aria-disabled": !ready,
    onClick: () => {
      if (ready) act();
    },
  });
  return (
    <AskCard
      {...{ askId, serverName, toolNames, busy, ready }}
      icon="link-external"
      does="wants you to open a page"
      onCancel={button(onCancel).onClick}
    >
      {message !== "" && <Markdown text={message} />}
      <p className="page-url">{url}</p>
      {waiting && <p role="status">Waiting for you to finish.</p>}
      {refusal !== undefined && <Refusal message={refusal} />}
      <div className="actions">
        {waiting && (
          <button key="done" className="primary" {...button(onDone)}>
            Done
          </button>
        )}
        <button key="open" className={waiting ? "secondary" : "primary"} {...button(onOpen)}>
          {waiting ? "Open Again" : "Open in Browser"}
        </button>
        <CopyButton text={url} label="Copy URL" />
        <button className="secondary" {...button(waiting ? onCancel : onDecline)}>
          {waiting ? "Give Up" : "Decline"}
        </button>
      </div>
    </AskCard>
  );
}

function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState<boolean>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      setCopied(false);
    }
  };
  return (
    <>
      <button type="button" className="secondary" onClick={() => void copy()}>
        {label}
      </button>
      <span role="status" className="muted">
        {copied === true && "Copied."}
        {copied === false && "The clipboard is not to be had; select the text instead."}
      </span>
    </>
  );
}
