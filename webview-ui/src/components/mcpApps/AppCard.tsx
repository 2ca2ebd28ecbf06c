import type { Call } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId, useRef } from "react";
import { visible } from "../../lib/visible.ts";
import type { Actions } from "../../store/session.ts";
import { Icon } from "../ui/Icon.tsx";
import type { MenuEntry } from "../ui/Menu.tsx";
import { MenuButton } from "../ui/MenuButton.tsx";
import { AppFrame, type AppFrameHandle } from "./AppFrame.tsx";
import { AppNetwork } from "./AppNetwork.tsx";
import { AppWish } from "./AppWish.tsx";
import { endWords, ofCalls } from "./connection.ts";
import { useAppRequests } from "./useAppRequests.ts";
import { useOpenApp } from "./useOpenApp.ts";
import { useRoom } from "./useRoom.ts";
import { useToolMessages } from "./useToolMessages.ts";

export interface AppCardProps {
  readonly taskId: string;
  readonly messageId: number;
  readonly call: Call;
  readonly actions: Actions;
  /** The plain result is shown below the app. */
  readonly plain: boolean;
  readonly onPlain: (plain: boolean) => void;
}

/** The heights of apps that were shown, so that a row that comes back into view has its height at once. */
const heights = new Map<string, number>();

/** The MCP App of a call, with its menu, its wishes, and the reason of its end. */
export function AppCard(props: AppCardProps) {
  const { taskId, messageId, call, actions, plain, onPlain } = props;
  const { serverName, request } = call;
  const toolName = request.type === "tools/call" ? request.toolName : "";
  const headingId = useId();
  const key = `${taskId}:${messageId}`;
  const { room, height, want } = useRoom(heights.get(key));
  const { phase, open, end } = useOpenApp(actions, taskId, messageId, () => {
    want(0);
    onPlain(true);
  });
  const { serve, wish, answer, forget } = useAppRequests(
    actions,
    { taskId, messageId, serverName, toolName },
    phase.is === "open" ? phase.open.appId : undefined,
    (text) => actions.reveal({ kind: "draft", text: attributed(text, serverName) }),
  );
  const frame = useRef<AppFrameHandle>(null);
  useToolMessages(frame, phase.is === "open" ? phase.open.appId : undefined, call);
  const stop = (words: string) => {
    forget();
    end(words);
  };
  const afterTearDown = async (next: () => void) => {
    await frame.current?.tearDown();
    next();
  };
  const reload = () => {
    forget();
    onPlain(false);
    want(heights.get(key));
    open({ reload: true });
  };
  const bare = phase.is === "open" && phase.open.border === false;
  return (
    <section className={bare ? "app-card app-card-bare" : "app-card"} aria-labelledby={headingId}>
      <header className="app-head">
        <Icon name="layout" />
        <h3 id={headingId}>{l10n.t("App of {0}", visible(serverName))}</h3>
        <MenuButton
          label={l10n.t("Actions for the app")}
          icon="ellipsis"
          className="icon-button"
          entries={entriesOf(plain, phase.is !== "ended", {
            reload: () => void afterTearDown(reload),
            show: onPlain,
            stop: () => void afterTearDown(() => stop(l10n.t("You stopped the app."))),
          })}
        />
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
      {(phase.is === "open" || phase.is === "ended") && (
        <div ref={room} {...(phase.is === "ended" && height > 0 && roomLeft(height))}>
          {phase.is === "open" ? (
            <AppFrame
              key={phase.open.appId}
              ref={frame}
              title={l10n.t("App of {0}: {1}", visible(serverName), visible(toolName))}
              open={phase.open}
              capabilities={ofCalls}
              height={height}
              onHeight={(wanted) => {
                heights.set(key, wanted);
                want(wanted);
              }}
              onRequest={serve}
              onEnd={(why) => stop(endWords(why))}
            />
          ) : (
            <p role="status" className="muted">
              {visible(phase.words)}
            </p>
          )}
        </div>
      )}
      {wish !== undefined && (
        <AppWish
          key={wish.kind === "link" ? wish.url : wish.text}
          {...{ serverName, wish }}
          onAnswer={answer}
          onFocusApp={() => frame.current?.focus()}
        />
      )}
    </section>
  );
}

/** The rows below stay in place for as long as a press may be meant for an app that has ended. */
function roomLeft(height: number) {
  return { className: "app-room-left", style: { height: `${height}px` } };
}

interface MenuActions {
  readonly reload: () => void;
  readonly show: (plain: boolean) => void;
  readonly stop: () => void;
}

function entriesOf(plain: boolean, runs: boolean, actions: MenuActions): readonly MenuEntry[] {
  const { reload, show, stop } = actions;
  return [
    { label: l10n.t("Reload App"), icon: "refresh", onChoose: reload },
    plain
      ? { label: l10n.t("Hide Plain Result"), icon: "eye-closed", onChoose: () => show(false) }
      : { label: l10n.t("Show Plain Result"), icon: "eye", onChoose: () => show(true) },
    ...(runs ? [{ label: l10n.t("Stop App"), icon: "debug-stop", onChoose: stop }] : []),
  ];
}

/** A message of an app, as the person finds it in the composer. */
function attributed(text: string, serverName: string): string {
  return `${l10n.t("From {0}'s app:", serverName)}\n\n${text}`;
}
