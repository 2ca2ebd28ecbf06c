import type { McpElicitationRequest } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { visible } from "../../lib/visible.ts";
import type { Actions } from "../../store/session.ts";
import { Icon } from "../ui/Icon.tsx";
import { AppFrame, type AppFrameHandle } from "./AppFrame.tsx";
import { AppNetwork } from "./AppNetwork.tsx";
import { endWords, ofForms } from "./connection.ts";
import { waitLimitMs } from "./limits.ts";
import { useOpenApp } from "./useOpenApp.ts";
import { useRoom } from "./useRoom.ts";

export interface FormAppProps {
  readonly taskId: string;
  readonly messageId: number;
  readonly serverName: string;
  readonly request: McpElicitationRequest;
  readonly actions: Actions;
  /** Another number asks the app again. */
  readonly round: number;
  /** The app has answered. What it says is unchecked. */
  readonly onAnswer: (answer: unknown) => void;
  /** There is no app any more, for the reason that the words say. */
  readonly onEnd: (words: string) => void;
}

/** The app that a server offers for its form. It gets the request, and proposes an answer. */
export function FormApp(props: FormAppProps) {
  const { taskId, messageId, serverName, request, actions, round, onAnswer, onEnd } = props;
  const headingId = useId();
  const frame = useRef<AppFrameHandle>(null);
  const { room, height, want } = useRoom();
  const { phase, open, end } = useOpenApp(actions, taskId, messageId, onEnd);
  const [ready, setReady] = useState(false);

  const ended = useEffectEvent(end);
  const waits = phase.is === "opening" || (phase.is === "open" && !ready);
  useEffect(() => {
    if (!waits) return;
    const late = () => ended(l10n.t("The app does not answer."));
    const timer = setTimeout(late, waitLimitMs);
    return () => clearTimeout(timer);
  }, [waits]);

  const ask = useEffectEvent(() => frame.current?.elicit(paramsOf(request)));
  const answered = useEffectEvent(onAnswer);
  const asked = ready ? round : undefined;
  useEffect(() => {
    if (asked === undefined) return;
    const over = new AbortController();
    const hear = async () => {
      const answer = await ask();
      if (!over.signal.aborted) answered(answer);
    };
    void hear();
    return () => over.abort();
  }, [asked]);

  if (phase.is === "ended") return null;
  return (
    <section className="app-card" aria-labelledby={headingId}>
      <header className="app-head">
        <Icon name="layout" />
        <h3 id={headingId}>{l10n.t("App of {0}", visible(serverName))}</h3>
      </header>
      {phase.is === "opening" && <p role="status">{l10n.t("Opening the app…")}</p>}
      {phase.is === "asking" && (
        <AppNetwork
          {...{ serverName }}
          domains={phase.domains}
          refused={phase.refused}
          onDecide={(network) => open({ network })}
        />
      )}
      {phase.is === "open" && (
        <div ref={room}>
          <AppFrame
            ref={frame}
            title={l10n.t("App of {0}", visible(serverName))}
            open={phase.open}
            capabilities={ofForms}
            height={height}
            onHeight={want}
            onReady={(elicits) => {
              if (elicits) setReady(true);
              else end(l10n.t("The app cannot fill in a form."));
            }}
            onRequest={async (method, params) => {
              const { appId = "" } = phase.open;
              return actions.requestApp({ taskId, appId, method, params });
            }}
            onEnd={(why) => end(endWords(why))}
          />
        </div>
      )}
    </section>
  );
}

/** The params of the server's request, as far as Assent has them. */
function paramsOf({ message, requestedSchema, appUri, _meta }: McpElicitationRequest): object {
  return {
    mode: "form",
    message,
    requestedSchema: JSON.parse(requestedSchema ?? "{}"),
    _meta: _meta ?? { ui: { resourceUri: appUri } },
  };
}
