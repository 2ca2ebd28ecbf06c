import type { Call } from "@assent/protocol";
import { type RefObject, useEffect, useRef } from "react";
import type { AppFrameHandle } from "./AppFrame.tsx";
import { toolInputOf, toolResultOf } from "./toolResult.ts";

/** Tells the app of a call the call's input, and its result once it is there. The frame is another one for another app. */
export function useToolMessages(
  frame: RefObject<AppFrameHandle | null>,
  appId: string | undefined,
  { request, result }: Call,
): void {
  const told = useRef<string>(undefined);
  useEffect(() => {
    if (appId === undefined) return;
    frame.current?.notify("ui/notifications/tool-input", toolInputOf(request));
    // The input never changes.
  }, [frame, appId, request]);
  useEffect(() => {
    if (appId === undefined || result === undefined || told.current === appId) return;
    told.current = appId;
    if (result.type === "result") {
      frame.current?.notify("ui/notifications/tool-result", toolResultOf(result));
    } else {
      frame.current?.notify("ui/notifications/tool-cancelled", { reason: result.type });
    }
  }, [frame, appId, result]);
}
