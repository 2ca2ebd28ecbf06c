import type { AppNetwork, OpenAppResult } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useEffectEvent, useState } from "react";
import { messageOf } from "../../link/client.ts";
import type { Actions } from "../../store/session.ts";

/** How far an app is. */
export type Phase =
  | { readonly is: "opening" }
  /** The person decides about the addresses. */
  | {
      readonly is: "asking";
      readonly domains: readonly string[];
      readonly refused: readonly string[];
    }
  | { readonly is: "open"; readonly open: OpenAppResult }
  /** The words say why. */
  | { readonly is: "ended"; readonly words: string };

export interface OpenApp {
  readonly phase: Phase;
  /** Opens the app again. */
  readonly open: (how: OpenHow) => void;
  /** Closes the app, for the reason that the words say. */
  readonly end: (words: string) => void;
}

/** How to open an app: with an answer about its addresses, or with a new copy of its page. */
export interface OpenHow {
  readonly network?: AppNetwork;
  readonly reload?: boolean;
}

/** Ends the apps that are shown, the oldest first. Too many would slow down the panel. */
const shown: (() => void)[] = [];
const maxShown = 6;

const opening: Phase = { is: "opening" };

/** Opens the app of a call or of an ask while the component is there. */
export function useOpenApp(
  actions: Actions,
  taskId: string,
  messageId: number,
  onEnd: (words: string) => void,
): OpenApp {
  // Undefined keeps it closed.
  const [how, setHow] = useState<OpenHow | undefined>({});
  const [phase, setPhase] = useState<Phase>(opening);
  const end = (words: string) => {
    setHow(undefined);
    setPhase({ is: "ended", words });
    onEnd(words);
  };
  const ended = useEffectEvent(end);

  useEffect(() => {
    if (how === undefined) return;
    const over = new AbortController();
    let appId: string | undefined;
    const close = () => {
      if (appId !== undefined) actions.closeApp(taskId, appId);
    };
    const open = async () => {
      try {
        const result = await actions.openApp({ taskId, messageId, ...how }, over.signal);
        const { asks, refused = [] } = result;
        appId = result.appId;
        if (over.signal.aborted) close();
        else if (asks === undefined) setPhase({ is: "open", open: result });
        else setPhase({ is: "asking", domains: asks, refused });
      } catch (error) {
        if (!over.signal.aborted) ended(messageOf(error));
      }
    };
    const leave = () => ended(l10n.t("The app was stopped to make room for others."));
    shown.push(leave);
    if (shown.length > maxShown) shown.shift()?.();
    void open();
    return () => {
      over.abort();
      close();
      const at = shown.indexOf(leave);
      if (at >= 0) shown.splice(at, 1);
    };
  }, [how, taskId, messageId, actions]);

  return {
    phase,
    open(next) {
      setPhase(opening);
      setHow(next);
    },
    end,
  };
}
