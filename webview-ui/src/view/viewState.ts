import type { AttachedFile } from "@assent/protocol";

/**
 * The view's own state, which survives reloads: VS Code destroys a hidden webview, and it must return exactly as it
 * was. It has nothing that the sidecar owns, and no input of a field that looks like a secret.
 */
export interface ViewState {
  readonly openTaskId?: string;
  /** Drafts of forms, by ask or by server and use. The one used last is last. */
  readonly drafts: Readonly<Record<string, Draft>>;
  readonly runner: RunnerState;
  /** The attachments of unsent messages, by draft. For files, only the names. */
  readonly attached: Readonly<Record<string, readonly Attached[]>>;
  /** Disclosures that the person opened or closed. */
  readonly expanded: Readonly<Record<string, boolean>>;
  /** The top of the open task's view; undefined if the view follows the bottom. */
  readonly place?: Place;
  readonly dock: DockState;
}

/** The state of the dock: which open question it shows, and its size. */
export interface DockState {
  /** The shown ask's id, by task. */
  readonly current: Readonly<Record<string, string>>;
  /** The dock has nearly the whole panel. */
  readonly expanded: boolean;
  /** The ask at which the person collapsed the dock. The next one opens it again. */
  readonly collapsed?: string;
  /** The scroll positions in pixels, by ask. */
  readonly tops: Readonly<Record<string, number>>;
}

/** A position in a conversation: this many pixels below the start of a message. */
export interface Place {
  readonly messageId: number;
  readonly offset: number;
}

/** The inputs of a form, by field name. */
export type Draft = Readonly<Record<string, FieldInput>>;

/** The input of one field: a text, a checkbox, or the chosen options. */
export type FieldInput = string | boolean | readonly string[];

export interface RunnerState {
  readonly open: boolean;
  readonly serverName?: string;
  /** The tab that was chosen last. The server may not have it. */
  readonly tab?: RunnerTab;
  readonly toolName?: string;
  readonly uriTemplate?: string;
  readonly promptName?: string;
}

/** An attachment of an unsent message. */
export type Attached =
  | {
      readonly kind: "file";
      readonly key: number;
      readonly name: string;
      /** In bytes. */
      readonly size: number;
      /** Undefined until the host has restored it after a reload. */
      readonly file: AttachedFile | undefined;
      /** The name under which the host stores it; undefined until it does. */
      readonly keptAs: string | undefined;
    }
  | {
      readonly kind: "resource";
      readonly key: number;
      readonly serverName: string;
      readonly title: string;
      /** The call that read it; undefined while it runs. */
      readonly messageId: number | undefined;
    }
  /** It was one of these, and was lost in a reload. */
  | { readonly kind: "lost"; readonly key: number; readonly name: string };

const nothingAttached: readonly Attached[] = [];

const runnerTabs = ["tools", "resources", "prompts"] as const;

export type RunnerTab = (typeof runnerTabs)[number];

/** Stores a view's state. */
export interface ViewStorage {
  load(): unknown;
  save(state: ViewState): void;
}

export const emptyViewState: ViewState = {
  drafts: {},
  runner: { open: false },
  attached: {},
  expanded: {},
  dock: { current: {}, expanded: false, tops: {} },
};

// The limit keeps a view that is used for months from collecting every unfinished draft.
const maxDrafts = 50;
const maxExpanded = 200;
const maxDocked = 50;

/** Holds the view's state and stores every change, because a view ends without warning. */
export class ViewStateStore {
  private state: ViewState;
  /** Includes the contents of the files. */
  private readonly attachedTo: Map<string, readonly Attached[]>;
  private readonly attachedListeners = new Set<() => void>();
  private lastKey: number;
  private readonly storage: ViewStorage;

  constructor(storage: ViewStorage) {
    this.storage = storage;
    this.state = parseViewState(storage.load());
    const { attached } = this.state;
    this.attachedTo = new Map(Object.entries(attached));
    const keys = Object.values(attached).flatMap((all) => all.map(({ key }) => key));
    this.lastKey = Math.max(0, ...keys);
  }

  get(): ViewState {
    return this.state;
  }

  update(change: (state: ViewState) => ViewState): void {
    this.state = change(this.state);
    this.storage.save(this.state);
  }

  draft(key: string): Draft | undefined {
    return own(this.state.drafts, key);
  }

  setDraft(key: string, draft: Draft | undefined): void {
    this.update((state) => ({
      ...state,
      drafts: withEntry(state.drafts, key, draft, maxDrafts),
    }));
  }

  /** Returns the attachments of a draft. */
  attached(key: string): readonly Attached[] {
    return this.attachedTo.get(key) ?? nothingAttached;
  }

  /** Calls back after every change of attachments, until the returned function is called. */
  onAttached(changed: () => void): () => void {
    this.attachedListeners.add(changed);
    return () => this.attachedListeners.delete(changed);
  }

  setAttached(key: string, attached: readonly Attached[]): void {
    const some = attached.length > 0;
    if (some) this.attachedTo.set(key, attached);
    else this.attachedTo.delete(key);
    const kept = some ? attached.map(withoutContent) : undefined;
    this.update((state) => ({
      ...state,
      attached: withEntry(state.attached, key, kept, maxDrafts),
    }));
    for (const changed of this.attachedListeners) changed();
  }

  /** Returns a new key for an attachment, unique in the view. */
  nextKey(): number {
    this.lastKey += 1;
    return this.lastKey;
  }

  changeDock(change: (dock: DockState) => DockState): void {
    this.update((state) => ({ ...state, dock: change(state.dock) }));
  }

  /** Sets the ask that the dock shows for a task. */
  setDocked(taskId: string, askId: string): void {
    this.changeDock((dock) => ({
      ...dock,
      current: withEntry(dock.current, taskId, askId, maxDocked),
    }));
  }

  /** Returns the scroll position of an ask, in pixels. */
  dockedTop(askId: string): number {
    return own(this.state.dock.tops, askId) ?? 0;
  }

  setDockedTop(askId: string, top: number): void {
    if (this.dockedTop(askId) === top) return;
    this.changeDock((dock) => ({ ...dock, tops: withEntry(dock.tops, askId, top, maxDocked) }));
  }

  expanded(key: string): boolean | undefined {
    return own(this.state.expanded, key);
  }

  setExpanded(key: string, expanded: boolean): void {
    this.update((state) => ({
      ...state,
      expanded: withEntry(state.expanded, key, expanded, maxExpanded),
    }));
  }
}

/**
 * Reads a record's own member. The keys are foreign names: "constructor" must not find an inherited member.
 */
export function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function withEntry<T>(
  record: Readonly<Record<string, T>>,
  key: string,
  value: T | undefined,
  limit: number,
): Readonly<Record<string, T>> {
  const others = Object.entries(record).filter(([name]) => name !== key);
  if (value === undefined) return Object.fromEntries(others);
  return Object.fromEntries([...others.slice(1 - limit), [key, value]]);
}

/** Parses the state of an earlier page, perhaps of an older version. Invalid parts are dropped. */
function parseViewState(raw: unknown): ViewState {
  if (!isRecord(raw)) return emptyViewState;
  const runner = isRecord(raw["runner"]) ? raw["runner"] : {};
  const dock = isRecord(raw["dock"]) ? raw["dock"] : {};
  return {
    ...optional("openTaskId", raw["openTaskId"], isString),
    drafts: entriesOf(raw["drafts"], isDraft),
    runner: {
      open: runner["open"] === true,
      ...optional("serverName", runner["serverName"], isString),
      ...optional("tab", runner["tab"], isRunnerTab),
      ...optional("toolName", runner["toolName"], isString),
      ...optional("uriTemplate", runner["uriTemplate"], isString),
      ...optional("promptName", runner["promptName"], isString),
    },
    attached: attachedOf(raw["attached"]),
    expanded: entriesOf(raw["expanded"], (value) => typeof value === "boolean"),
    ...optional("place", raw["place"], isPlace),
    dock: {
      current: entriesOf(dock["current"], isString),
      expanded: dock["expanded"] === true,
      ...optional("collapsed", dock["collapsed"], isString),
      tops: entriesOf(dock["tops"], (value): value is number => Number.isFinite(value)),
    },
  };
}

/** The host stores the contents of files. */
function withoutContent(one: Attached): Attached {
  return one.kind === "file" ? { ...one, file: undefined } : one;
}

function attachedOf(raw: unknown): Record<string, readonly Attached[]> {
  const lists = Object.entries(entriesOf(raw, isRecords));
  return Object.fromEntries(lists.map(([key, all]) => [key, all.flatMap(attachedOfEarlier)]));
}

/** Parses an attachment of an earlier page. An unfinished one becomes "lost", which the person sees. */
function attachedOfEarlier(raw: Readonly<Record<string, unknown>>): Attached | [] {
  const { kind, key, name, size, keptAs, serverName, title, messageId } = raw;
  if (typeof key !== "number" || !Number.isSafeInteger(key)) return [];
  if (kind === "resource" && isString(serverName) && isString(title)) {
    return typeof messageId === "number"
      ? { kind, key, serverName, title, messageId }
      : { kind: "lost", key, name: title };
  }
  if (kind === "file" && isString(name) && typeof size === "number") {
    return isString(keptAs)
      ? { kind, key, name, size, keptAs, file: undefined }
      : { kind: "lost", key, name };
  }
  return kind === "lost" && isString(name) ? { kind, key, name } : [];
}

function optional<K extends string, T>(
  key: K,
  value: unknown,
  is: (value: unknown) => value is T,
): { readonly [P in K]?: T } {
  return is(value) ? ({ [key]: value } as { readonly [P in K]?: T }) : {};
}

function entriesOf<T>(value: unknown, is: (value: unknown) => value is T): Record<string, T> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, T] => is(entry[1])),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isRecords(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.every(isRecord);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isPlace(value: unknown): value is Place {
  return (
    isRecord(value) && Number.isInteger(value["messageId"]) && Number.isFinite(value["offset"])
  );
}

function isRunnerTab(value: unknown): value is RunnerTab {
  return runnerTabs.some((tab) => tab === value);
}

/** Parses a draft that was stored elsewhere; undefined if it is invalid. */
export function parseDraft(raw: unknown): Draft | undefined {
  return isDraft(raw) ? raw : undefined;
}

function isDraft(value: unknown): value is Draft {
  return isRecord(value) && Object.values(value).every(isFieldInput);
}

function isFieldInput(value: unknown): value is FieldInput {
  return isString(value) || typeof value === "boolean" || isTexts(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isString);
}
