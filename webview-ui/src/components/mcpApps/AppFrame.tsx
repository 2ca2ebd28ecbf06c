import type { OpenAppResult } from "@assent/protocol";
import { type Ref, useImperativeHandle, useLayoutEffect, useRef } from "react";
import { type AppConnection, type AppEnd, connectApp } from "./connection.ts";
import { useArmed } from "./useArmed.ts";
import { useFocusGuard } from "./useFocusGuard.ts";

export interface AppFrameProps {
  readonly title: string;
  readonly open: OpenAppResult;
  /** What the app may ask for. */
  readonly capabilities: object;
  /** In pixels. */
  readonly height: number;
  /** The app wants this height, which is within bounds. */
  readonly onHeight: (height: number) => void;
  /** The app has drawn itself. */
  readonly onReady?: (elicits: boolean) => void;
  /** Serves a request of the app. */
  readonly onRequest: (method: string, params: unknown) => Promise<unknown>;
  /** The app has ended. */
  readonly onEnd: (end: AppEnd) => void;
  readonly ref?: Ref<AppFrameHandle>;
}

/** The connection of the app that is shown. */
export interface AppFrameHandle extends Pick<AppConnection, "notify" | "elicit" | "tearDown"> {
  /** Gives the app the focus, for the person. */
  readonly focus: () => void;
}

/** The heights of an app in pixels. */
const lowest = 60;
const highest = 600;

/** An app in its frame. It lives for as long as the component does. */
export function AppFrame(props: AppFrameProps) {
  const { title, open, capabilities, height, onHeight, onReady, onRequest, onEnd, ref } = props;
  const frame = useRef<HTMLIFrameElement>(null);
  const armed = useArmed(frame);
  const focus = useFocusGuard(frame, () => onEnd("focus"));
  const connection = useRef<AppConnection>(undefined);
  useImperativeHandle(ref, () => ({
    notify: (method, params) => connection.current?.notify(method, params),
    elicit: async (params) => connection.current?.elicit(params),
    tearDown: async () => connection.current?.tearDown(),
    focus,
  }));
  const latest = useRef({ onHeight, onReady, onRequest, onEnd });
  useLayoutEffect(() => {
    latest.current = { onHeight, onReady, onRequest, onEnd };
  });

  const { url, tool } = open;
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null || url === undefined) return;
    const connected = connectApp(
      element,
      { capabilities, tool, maxHeight: highest },
      {
        ready: (elicits) => latest.current.onReady?.(elicits),
        sized(wanted) {
          latest.current.onHeight(Math.round(Math.min(Math.max(wanted, lowest), highest)));
        },
        stopped: (end) => latest.current.onEnd(end),
        request: (method, params) => latest.current.onRequest(method, params),
      },
    );
    connection.current = connected;
    element.src = url;
    return () => connected.dispose();
  }, [url, tool, capabilities]);

  return (
    <iframe
      ref={frame}
      className={armed ? "app-frame app-frame-armed" : "app-frame"}
      title={title}
      sandbox="allow-scripts allow-forms"
      allow=""
      referrerPolicy="no-referrer"
      style={{ height: `${height}px` }}
    />
  );
}
