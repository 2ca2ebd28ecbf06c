/**
 * The panel's end of an MCP App (SEP-1865, version 2026-01-26): JSON-RPC with the app in its two frames. It answers what
 * is only about the view, and passes everything else on. The outer frame (sidecar/wire/apps) sends the app's messages as
 * texts, of a bounded length and at a bounded rate.
 */
import * as l10n from "@vscode/l10n";
import { codeOf, messageOf } from "../../link/client.ts";
import { onThemeChange } from "../ui/theme.ts";
import { waitLimitMs } from "./limits.ts";
import { readTheme } from "./theme.ts";

/** Why an app was stopped. */
export type AppEnd = "messages" | "size" | "navigation" | "past" | "focus" | "silent" | "asked";

export interface AppHandlers {
  /** The app has drawn itself and takes notifications. An app that elicits also takes {@link AppConnection.elicit}. */
  ready(elicits: boolean): void;
  /** The app wants this height in pixels. */
  sized(height: number): void;
  /** The app is no longer connected. */
  stopped(end: AppEnd): void;
  /** Serves a request of the app. A rejection becomes an error with its message. */
  request(method: string, params: unknown): Promise<unknown>;
}

export interface AppOptions {
  /** What the app may ask for, as the specification names it. */
  readonly capabilities: object;
  /** The server's definition of the tool. */
  readonly tool: unknown;
  /** The greatest height in pixels. */
  readonly maxHeight: number;
}

export interface AppConnection {
  /** Sends a notification. One that comes before the app is ready waits for that. */
  notify(method: string, params: unknown): void;
  /**
   * Has the app answer an elicitation (draft SEP-3118). Resolves to what it says, unchecked, or to undefined if it says
   * that it failed. Another request replaces one that has no answer yet, and nothing else that the app says counts.
   */
  elicit(params: unknown): Promise<unknown>;
  /** Tells the app that it ends, and waits a moment for its answer. */
  tearDown(): Promise<void>;
  dispose(): void;
}

/** The capabilities toward the app of a call. */
export const ofCalls = {
  openLinks: {},
  serverTools: {},
  serverResources: {},
  message: { text: {} },
  updateModelContext: { text: {}, structuredContent: {} },
} as const;
/** The capabilities toward the app of a form. */
export const ofForms = { serverResources: {}, elicitation: {} } as const;

const protocolVersion = "2026-01-26";
/** How long an app may take to end, in milliseconds. */
const closeTimeoutMs = 500;
/** The most requests of an app that wait for an answer. */
const maxPending = 16;
/** The most messages that go past the outer frame before the app is stopped. */
const maxPast = 3;

type Id = string | number;

interface AppMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
}

/** Speaks with the app in a frame that is about to load. */
export function connectApp(
  frame: HTMLIFrameElement,
  options: AppOptions,
  handlers: AppHandlers,
): AppConnection {
  const waiting: object[] = [];
  let isReady = false;
  let pending = 0;
  let past = 0;
  let elicits = false;
  let elicited = 0;
  let answered: ((result: unknown) => void) | undefined;
  let tornDown: (() => void) | undefined;
  const over = new AbortController();
  const { signal } = over;

  const send = (message: object) =>
    frame.contentWindow?.postMessage(
      { assentApp: JSON.stringify({ jsonrpc: "2.0", ...message }) },
      "*",
    );
  const end = (why: AppEnd) => {
    if (signal.aborted) return;
    dispose();
    handlers.stopped(why);
  };
  const dispose = () => over.abort();

  const serve = async (id: Id, method: string, params: unknown) => {
    if (pending >= maxPending) {
      send({ id, error: { code: -32000, message: "Too many requests wait for an answer." } });
      return;
    }
    pending += 1;
    if (method === "ui/initialize") elicits = saysThatItElicits(params);
    try {
      const result = ownAnswer(method, frame, options) ?? (await handlers.request(method, params));
      if (!signal.aborted) send({ id, result });
    } catch (error) {
      const failure = { code: codeOf(error) ?? -32000, message: messageOf(error) };
      if (!signal.aborted) send({ id, error: failure });
    } finally {
      pending -= 1;
    }
  };

  const hear = (method: string, params: unknown) => {
    switch (method) {
      case "ui/notifications/initialized":
        if (isReady) return;
        isReady = true;
        handlers.ready(elicits);
        for (const message of waiting.splice(0)) send(message);
        return;
      case "ui/notifications/size-changed": {
        const height = isRecord(params) ? params["height"] : undefined;
        if (typeof height === "number" && height > 0) handlers.sized(height);
        return;
      }
      case "ui/notifications/request-teardown":
        void tearDown().then(() => end("asked"));
        return;
      default: // such as log messages
    }
  };

  const receive = ({ id, method, params, result }: AppMessage) => {
    if (typeof method !== "string") {
      if (id === teardownId) tornDown?.();
      if (id !== elicitationId(elicited)) return;
      answered?.(result);
      answered = undefined;
      return;
    }
    if (id === undefined) hear(method, params);
    else if (typeof id === "number" || (typeof id === "string" && id.length <= 200)) {
      void serve(id, method, params);
    }
  };

  const onMessage = ({ source, data }: MessageEvent<unknown>) => {
    const { contentWindow } = frame;
    if (contentWindow === null || source === null) return;
    if (source !== contentWindow) {
      if (!isWithin(source, contentWindow)) return;
      past += 1;
      if (past > maxPast) end("past");
      return;
    }
    if (!isRecord(data)) return;
    const { assentApp, assentAppStopped, assentAppReady } = data;
    if (assentAppReady === true) clearTimeout(timer);
    else if (typeof assentAppStopped === "string") {
      end(
        assentAppStopped === "size" || assentAppStopped === "messages"
          ? assentAppStopped
          : "navigation",
      );
    } else if (typeof assentApp === "string") {
      const message: unknown = JSON.parse(assentApp);
      if (isRecord(message)) receive(message);
    }
  };
  window.addEventListener("message", onMessage, { signal });
  const timer = setTimeout(() => end("silent"), waitLimitMs);
  const stopTheme = onThemeChange(() => {
    const theme = readTheme();
    notify("ui/notifications/host-context-changed", {
      theme: theme.theme,
      styles: { variables: theme.variables },
    });
  });
  const size = new ResizeObserver(() =>
    notify("ui/notifications/host-context-changed", {
      containerDimensions: dimensionsOf(frame, options),
    }),
  );
  size.observe(frame);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    stopTheme();
    size.disconnect();
  });

  const notify = (method: string, params: unknown) => {
    const message = { method, params };
    if (isReady) send(message);
    else if (!method.endsWith("/host-context-changed")) waiting.push(message);
  };
  const tearDown = async () => {
    if (signal.aborted || !isReady || tornDown !== undefined) return;
    const answered = new Promise<void>((resolve) => {
      tornDown = resolve;
      setTimeout(resolve, closeTimeoutMs);
    });
    send({ id: teardownId, method: "ui/resource-teardown", params: {} });
    await answered;
  };
  const elicit = (params: unknown) =>
    new Promise<unknown>((resolve) => {
      elicited += 1;
      answered = resolve;
      send({ id: elicitationId(elicited), method: "elicitation/create", params });
    });
  return {
    notify,
    elicit,
    tearDown,
    dispose,
  };
}

/** The ids of the requests to an app. */
const teardownId = "assent-teardown";
const elicitationId = (number: number) => `assent-elicitation-${number}`;

function saysThatItElicits(params: unknown): boolean {
  const capabilities = isRecord(params) ? params["appCapabilities"] : undefined;
  return isRecord(capabilities) && isRecord(capabilities["elicitation"]);
}

/** Answers requests about the view; undefined for all others. */
function ownAnswer(
  method: string,
  frame: HTMLIFrameElement,
  options: AppOptions,
): object | undefined {
  switch (method) {
    case "ui/initialize":
      return {
        protocolVersion,
        hostInfo: { name: "assent", version: "1" },
        hostCapabilities: options.capabilities,
        hostContext: hostContext(frame, options),
      };
    case "ping":
      return {};
    case "ui/request-display-mode":
      return { mode: "inline" };
    default:
      return undefined;
  }
}

function hostContext(frame: HTMLIFrameElement, options: AppOptions): object {
  const { theme, variables } = readTheme();
  const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return {
    ...(options.tool !== undefined && { toolInfo: { tool: options.tool } }),
    theme,
    styles: { variables },
    displayMode: "inline",
    availableDisplayModes: ["inline"],
    containerDimensions: dimensionsOf(frame, options),
    locale: document.documentElement.lang || locale,
    timeZone,
    userAgent: "assent",
    platform: document.body.dataset["host"] === "vscode" ? "desktop" : "web",
    deviceCapabilities: {
      touch: navigator.maxTouchPoints > 0,
      hover: window.matchMedia("(hover: hover)").matches,
    },
    // No safeAreaInsets: apps would put them, zeros, in the place of their own padding.
  };
}

function dimensionsOf(frame: HTMLIFrameElement, { maxHeight }: AppOptions): object {
  return { width: frame.clientWidth, maxHeight };
}

/** Reports whether a window is in a frame, at any depth. */
function isWithin(source: MessageEventSource, frame: Window): boolean {
  if (!("parent" in source)) return false;
  let at: Window = source;
  for (let depth = 0; depth < 10 && at !== at.parent; depth++) {
    if (at.parent === frame) return true;
    at = at.parent;
  }
  return false;
}

/** The words for the end of an app. */
export function endWords(end: AppEnd): string {
  switch (end) {
    case "messages":
      return l10n.t("The app was stopped because it sent too many messages.");
    case "size":
      return l10n.t("The app was stopped because it sent a message that is too long.");
    case "navigation":
      return l10n.t("The app was stopped because it went to another page.");
    case "past":
      return l10n.t("The app was stopped because it sent messages past its frame.");
    case "focus":
      return l10n.t("The app was stopped because it took the focus while you were typing.");
    case "silent":
      return l10n.t("The app's frame cannot be reached from here.");
    case "asked":
      return l10n.t("The app ended itself.");
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
