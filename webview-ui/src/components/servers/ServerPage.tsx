import type { PolicyEntry, Server, ServerInspection, Task } from "@assent/protocol";
import { hidesText } from "@assent/protocol/definitionText";
import * as l10n from "@vscode/l10n";
import { useEffect, useRef } from "react";
import { brief } from "../../lib/brief.ts";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import type { Offers } from "../../store/offers.ts";
import type { Inspection } from "../../store/servers.ts";
import type { Actions } from "../../store/session.ts";
import { isActive } from "../policy/policyWords.ts";
import { Icon } from "../ui/Icon.tsx";
import { Page } from "../ui/Page.tsx";
import { ServerIcon } from "../ui/ServerIcon.tsx";
import { useNow } from "../ui/useNow.ts";
import { Part } from "./Part.tsx";
import { ServerActivity } from "./ServerActivity.tsx";
import { ServerHandshake } from "./ServerHandshake.tsx";
import { ServerLaunch } from "./ServerLaunch.tsx";
import { ServerLog } from "./ServerLog.tsx";
import { ServerOffers } from "./ServerOffers.tsx";
import { ServerState } from "./ServerState.tsx";
import { transportWords } from "./serverWords.ts";

export interface ServerPageProps {
  readonly server: Server;
  /** The last inspection; undefined before the first one. */
  readonly inspection: Inspection | undefined;
  readonly offers: Offers | undefined;
  readonly policy: readonly PolicyEntry[];
  readonly tasks: readonly Task[];
  /** Changes when something may have changed about the server. */
  readonly news: unknown;
  readonly actions: Pick<
    Actions,
    | "inspectServer"
    | "startServer"
    | "restartServer"
    | "stopServer"
    | "listOffers"
    | "openConfiguration"
    | "removeExampleServer"
  >;
  readonly onShowPolicy: () => void;
  /** Shows a message of a task. */
  readonly onOpen: (taskId: string, messageId: number) => void;
  readonly onBack: () => void;
}

/** All details of a server: its state and the reason, its activity, its offers, and how it starts. */
export function ServerPage(props: ServerPageProps) {
  const { server, inspection, offers, policy, tasks, news, actions } = props;
  const { onShowPolicy, onOpen, onBack } = props;
  const { name } = server;
  const known = inspection?.result;
  const failure = inspection?.failure;
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again whenever something changed.
  useEffect(() => actions.inspectServer(name), [name, server, news]);
  const active = policy.filter(
    (entry) => entry.serverName === name && isActive(entry, Date.now()),
  ).length;
  const busy = inspection?.reading ?? true;
  const now = useNow((known?.calls ?? []).length > 0);
  return (
    <Page
      heading={visible(name)}
      icon={<ServerIcon serverName={name} />}
      onRetry={() => actions.inspectServer(name)}
      {...{ busy, failure, onBack }}
    >
      <div className="server-page">
        <State server={server} known={known} actions={actions} />
        {known !== undefined && <ServerActivity {...{ known, tasks, now, onOpen }} />}
        <ServerOffers {...{ server, offers }} counts={known?.counts} onList={actions.listOffers} />
        <Part heading={l10n.t("Automatic Answers")}>
          <p>
            {active === 0
              ? l10n.t("No automatic answer is specific to this server.")
              : plural(
                  active,
                  l10n.t("1 automatic answer applies to this server."),
                  l10n.t("{0} automatic answers apply to this server."),
                )}{" "}
            <button type="button" className="link" onClick={onShowPolicy}>
              {l10n.t("Show Automatic Answers")}
            </button>
          </p>
        </Part>
        {known !== undefined && (
          <>
            <ServerLog serverName={name} lines={known.log ?? []} dropped={known.logDropped ?? 0} />
            <ServerLaunch
              known={known}
              onConfigure={actions.openConfiguration}
              onRemove={actions.removeExampleServer}
            />
            {known.handshake !== undefined && (
              <ServerHandshake serverName={name} handshake={known.handshake} />
            )}
          </>
        )}
      </div>
    </Page>
  );
}

interface StateProps extends Pick<ServerPageProps, "server" | "actions"> {
  readonly known: ServerInspection | undefined;
}

/** The server's state, the reason, and the possible actions. */
function State({ server, known, actions }: StateProps) {
  const { name, state, transport, protocolVersion = "", reason = "" } = server;
  const { verdict } = known ?? {};
  const head = useRef<HTMLParagraphElement>(null);
  // The pressed button disappears, so the focus moves first.
  const press = (act: (serverName: string) => void) => () => {
    head.current?.focus();
    act(name);
  };
  const stopped = state === "stopped" || state === "failed";
  const isBlocked = server.blocked !== undefined;
  return (
    <section className="server-part" aria-label={l10n.t("State")}>
      <div className="server-part" role="status">
        <p ref={head} className="server-head" tabIndex={-1}>
          <ServerState state={state} blocked={isBlocked} />
          <span className="muted">
            {transportWords(transport)}
            {protocolVersion !== "" && `, MCP ${protocolVersion}`}
          </span>
        </p>
        {(state !== "running" || isBlocked) && verdict !== undefined ? (
          <div className="verdict">
            <Icon name={isBlocked ? "circle-slash" : state === "failed" ? "error" : "warning"} />
            <div>
              <p className="verdict-text">{visible(verdict.text)}</p>
              <p>{visible(verdict.wayOut)}</p>
            </div>
          </div>
        ) : (
          state !== "running" && reason !== "" && <p>{brief(reason)}</p>
        )}
        {server.hides !== undefined && (
          <div className="verdict verdict-warning">
            <Icon name="warning" />
            <pre className="hidden-server">{hidesText(server.hides)}</pre>
          </div>
        )}
        {known?.warnings?.map((warning) => (
          <div key={warning} className="verdict verdict-warning">
            <Icon name="warning" />
            <p>{visible(warning)}</p>
          </div>
        ))}
      </div>
      <div className="actions">
        {stopped && !isBlocked && (
          <button type="button" className="primary small" onClick={press(actions.startServer)}>
            {l10n.t("Start")}
          </button>
        )}
        {!stopped && (
          <button type="button" className="secondary small" onClick={press(actions.stopServer)}>
            {l10n.t("Stop")}
          </button>
        )}
        {state === "running" && !isBlocked && (
          <button type="button" className="secondary small" onClick={press(actions.restartServer)}>
            {l10n.t("Restart")}
          </button>
        )}
        <button
          type="button"
          className="secondary small"
          onClick={() => actions.inspectServer(name)}
        >
          {l10n.t("Check Again")}
        </button>
      </div>
    </section>
  );
}
