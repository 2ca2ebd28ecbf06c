import type {
  CallProgressParams,
  ChatProgressParams,
  ConfigProblem,
  Grant,
  ListOpenAsksResult,
  ListServerMcpTasksResult,
  McpSamplingProgressParams,
  McpTaskEntry,
  Message,
  Model,
  OpenTaskResult,
  Server,
  ServerInspection,
  ServersChangedParams,
  Task,
  TaskEventParams,
  ToolRule,
} from "@assent/protocol";
import type { PageToOpen, PanelSettings, Reveal, SidecarStatus } from "@assent/protocol/host";
import { type Grants, noGrants } from "./grants.ts";
import { emptyInbox, type Inbox } from "./inbox.ts";
import type { Inspections } from "./inspections.ts";
import type { Offers } from "./offers.ts";

/** What the sidecar and the host said, and nothing else. The components draw it. */
export interface State {
  readonly link: Link;
  readonly sidecar: SidecarStatus;
  /** Every task, the most recently created first; absent until they were listed. */
  readonly tasks: readonly Task[] | undefined;
  /** Those that can be restored, the one deleted last first. */
  readonly deletedTasks: readonly Task[];
  /** What was deleted here just now, until the person takes that back or puts the offer away. */
  readonly deletedHere: Task | undefined;
  /** An event told of a task that is not in the list. */
  readonly tasksMissed: boolean;
  /** The open task. */
  readonly conversation: Conversation | undefined;
  readonly inbox: Inbox;
  readonly mcpTasks: McpTasks;
  readonly serverMcpTasks: ServerMcpTasks;
  readonly grants: Grants;
  readonly toolRules: ToolRules;
  /** Absent until they were listed. */
  readonly servers: readonly Server[] | undefined;
  readonly problems: readonly ConfigProblem[];
  readonly inspections: Inspections;
  /** What was listed of what servers offer, by server name. */
  readonly offers: ReadonlyMap<string, Offers>;
  /** The models of each workspace, by its name in the tasks; the own one's is empty. */
  readonly models: ReadonlyMap<string, Models>;
  /** Why tasks are not kept on disk; absent while they are. */
  readonly storageFailure: string | undefined;
  /** What became of the store after a failure, or of a damaged one; absent where nothing did. */
  readonly storageNote: { readonly message: string; readonly dismissed: boolean } | undefined;
  /** What the host wants to be brought into view, until it is. */
  readonly reveal: Reveal | undefined;
  /** The host can copy servers that other programs have configured. */
  readonly imports: boolean;
  /** The host lets the person choose files. */
  readonly picksFiles: boolean;
  /** The host lets the person set up models, and has a walkthrough. */
  readonly setsUp: boolean;
  /** Pages that the person may open, the one asked for first first. */
  readonly pages: readonly PageToOpen[];
  readonly settings: PanelSettings;
  /** Why the last thing that the person wanted did not work, until they put it away. */
  readonly failure: string | undefined;
}

/** The models that a server may have now, by server name; absent until they were listed. */
export type Models = ReadonlyMap<string, ListedModels>;

export interface ListedModels {
  readonly models: readonly Model[];
  /** Why VS Code's models are not among them. */
  readonly away: string | undefined;
}

const noModels: Models = new Map();

/** Returns the models of the workspace of a task. */
export function modelsFor(
  { models }: Pick<State, "models">,
  task: Pick<Task, "workspace"> | undefined,
): Models {
  return models.get(task?.workspace ?? "") ?? noModels;
}

/** The way to the host. In VS Code it is always up. */
export type Link = { readonly up: true } | { readonly up: false; readonly retryInMs: number };

/** The MCP tasks that servers list. No event tells of them: they are as they were when last asked for. */
export interface ServerMcpTasks {
  /** Absent until they were listed. */
  readonly listed: ListServerMcpTasksResult | undefined;
  readonly reading: boolean;
  /** Why they could not be listed the last time. */
  readonly failure: string | undefined;
}

/** The calls of every task that became MCP tasks. */
export interface McpTasks {
  /** Those that run, then those that have ended, the newest of each first; absent until they were listed. */
  readonly entries: readonly McpTaskEntry[] | undefined;
  /** How many pages of the list are read. */
  readonly pages: number;
  /** The list has more pages. */
  readonly more: boolean;
  /** The list is being read: what is said meanwhile may be missing in it. */
  readonly reading: boolean;
  /** Something is not in the list, or not as it is there: it must be read. */
  readonly missed: boolean;
  /** Why the list could not be read the last time. */
  readonly failure: string | undefined;
}

/** The answers about tools that are remembered. No event tells of them: they are as they were when last read. */
export interface ToolRules {
  /** The newest first; absent until they were listed. */
  readonly entries: readonly ToolRule[] | undefined;
  /** Why they could not be read the last time. */
  readonly failure: string | undefined;
}

/** The open task as far as it was read. */
export interface Conversation {
  readonly taskId: string;
  /** Absent until the task was read. */
  readonly task: Task | undefined;
  /** In ascending order of id. */
  readonly messages: readonly Message[];
  /** There are older messages to page to. */
  readonly earlier: boolean;
  /** The number of the newest event in here. */
  readonly lastNumber: number;
  /**
   * Something was missed: the task must be read again, from after this number. Until it is, events
   * wait in `held`.
   */
  readonly behind: number | undefined;
  /** A page of older messages is being read; events wait for it, lest the page undo them. */
  readonly paging: boolean;
  readonly held: readonly Held[];
  /** Why the task could not be read. */
  readonly failure: string | undefined;
}

/** A notification that waits for a read. */
export type Held =
  | { readonly type: "taskEvent"; readonly params: TaskEventParams }
  | { readonly type: "samplingProgress"; readonly params: McpSamplingProgressParams }
  | { readonly type: "callProgress"; readonly params: CallProgressParams }
  | { readonly type: "chatProgress"; readonly params: ChatProgressParams };

/** Something that was said, or a read that began or ended. */
export type Action =
  | { readonly type: "linkUp" }
  | { readonly type: "linkDown"; readonly retryInMs: number }
  | {
      readonly type: "hostReady";
      readonly imports: boolean;
      readonly picksFiles: boolean;
      readonly setsUp: boolean;
    }
  | { readonly type: "sidecarStatus"; readonly status: SidecarStatus }
  | { readonly type: "reveal"; readonly reveal: Reveal }
  | { readonly type: "revealed" }
  | { readonly type: "settingsTold"; readonly settings: PanelSettings }
  | { readonly type: "pagesAsked"; readonly pages: readonly PageToOpen[] }
  | {
      readonly type: "tasksListed";
      readonly tasks: readonly Task[];
      readonly deleted?: readonly Task[];
    }
  | { readonly type: "taskDeleted"; readonly task: Task }
  | { readonly type: "deletionDone" }
  | { readonly type: "taskKnown"; readonly task: Task }
  | { readonly type: "taskSelected"; readonly taskId: string | undefined }
  /** What is known of the open task is wrong in a way that events do not mend. */
  | { readonly type: "taskDoubted"; readonly taskId: string }
  | { readonly type: "taskRead"; readonly taskId: string; readonly result: OpenTaskResult }
  | { readonly type: "taskReadFailed"; readonly taskId: string; readonly message: string }
  | { readonly type: "pageAsked"; readonly taskId: string }
  /** Without a result, the page could not be read. */
  | { readonly type: "pageRead"; readonly taskId: string; readonly result?: OpenTaskResult }
  /** The messages before one need not be here. */
  | { readonly type: "pagesForgotten"; readonly taskId: string; readonly before: number }
  | Held
  /** The list of open asks is wanted as it is now. */
  | { readonly type: "inboxDoubted" }
  | { readonly type: "inboxAsked" }
  | { readonly type: "inboxListed"; readonly result: ListOpenAsksResult }
  | { readonly type: "inboxListFailed"; readonly message: string }
  /** The list of MCP tasks is wanted as it is now. */
  | { readonly type: "mcpTasksDoubted" }
  | { readonly type: "mcpTasksAsked" }
  | { readonly type: "mcpTasksPageWanted" }
  | {
      readonly type: "mcpTasksListed";
      readonly entries: readonly McpTaskEntry[];
      readonly more: boolean;
    }
  | { readonly type: "mcpTasksListFailed"; readonly message: string }
  | { readonly type: "serverMcpTasksAsked" }
  | { readonly type: "serverMcpTasksListed"; readonly result: ListServerMcpTasksResult }
  | { readonly type: "serverMcpTasksListFailed"; readonly message: string }
  | { readonly type: "grantsAsked" }
  | { readonly type: "grantsListed"; readonly grants: readonly Grant[] }
  | { readonly type: "grantsListFailed"; readonly message: string }
  | { readonly type: "grantChanged"; readonly grant: Grant }
  | { readonly type: "toolRulesListed"; readonly rules: readonly ToolRule[] }
  | { readonly type: "toolRulesListFailed"; readonly message: string }
  | { readonly type: "serversListed"; readonly params: ServersChangedParams }
  | { readonly type: "serverChanged"; readonly server: Server }
  | { readonly type: "inspectionAsked"; readonly serverName: string }
  | {
      readonly type: "inspectionRead";
      readonly serverName: string;
      readonly result: ServerInspection;
    }
  | {
      readonly type: "inspectionFailed";
      readonly serverName: string;
      readonly message: string;
    }
  /** These lists are so now; the server's others are as they were. */
  | { readonly type: "offersChanged"; readonly serverName: string; readonly offers: Offers }
  | {
      readonly type: "modelsListed";
      readonly workspace: string;
      readonly serverName: string;
      readonly listed: ListedModels;
    }
  | { readonly type: "storageFailed"; readonly message: string }
  | { readonly type: "storageRecovered"; readonly message: string }
  | { readonly type: "storageNoted"; readonly message: string }
  | { readonly type: "storageNoteDismissed" }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "failureDismissed" };

export const defaultPanelSettings: PanelSettings = { samplingDiagram: true };

export const initialState: State = {
  link: { up: true },
  sidecar: { state: "starting" },
  tasks: undefined,
  deletedTasks: [],
  deletedHere: undefined,
  tasksMissed: false,
  conversation: undefined,
  inbox: emptyInbox,
  mcpTasks: {
    entries: undefined,
    pages: 1,
    more: false,
    reading: false,
    missed: false,
    failure: undefined,
  },
  serverMcpTasks: { listed: undefined, reading: false, failure: undefined },
  grants: noGrants,
  toolRules: { entries: undefined, failure: undefined },
  servers: undefined,
  problems: [],
  inspections: new Map(),
  offers: new Map(),
  models: new Map(),
  storageFailure: undefined,
  storageNote: undefined,
  reveal: undefined,
  imports: false,
  picksFiles: false,
  setsUp: false,
  pages: [],
  settings: defaultPanelSettings,
  failure: undefined,
};
