import {
  type ConfigProblem,
  ErrorCode,
  type Model,
  type Server,
  type ServerInspection,
  type ServersChangedParams,
  type Task,
} from "@assent/protocol";
import type { SourcePosition } from "@assent/protocol/host";
import { type Client, codeOf } from "../link/client.ts";
import { afterChange } from "./offers.ts";
import { createReader, notRead, type Reader, type Resource } from "./resource.ts";
import { type Change, type State, set } from "./state.ts";
import type { Store } from "./store.ts";

export interface ServersState {
  /** Undefined until they were listed. */
  readonly servers: readonly Server[] | undefined;
  readonly problems: readonly ConfigProblem[];
  /** The details of the servers that the person looked at, by name. */
  readonly inspections: Inspections;
  /** The models of each workspace, by the name in its tasks; the own one's name is empty. */
  readonly models: ReadonlyMap<string, Models>;
}

declare module "./state.ts" {
  interface State extends ServersState {}
}

export type Inspections = ReadonlyMap<string, Inspection>;

/** Most of it has no events, so it is as of the last reading. */
export interface Inspection extends Resource {
  /** Undefined until it was read. */
  readonly result: ServerInspection | undefined;
}

/** The models that a server may use now, by server name; undefined until they were listed. */
export type Models = ReadonlyMap<string, ListedModels>;

export interface ListedModels {
  readonly models: readonly Model[];
  /** Why VS Code's models are missing. */
  readonly away: string | undefined;
}

export const initialServers: ServersState = {
  servers: undefined,
  problems: [],
  inspections: new Map(),
  models: new Map(),
};

const notInspected: Inspection = { ...notRead, result: undefined };

const noModels: Models = new Map();

/** The pause between two inspections of a server, in milliseconds. */
const inspectionPause = 500;

/** Returns the models of the workspace of a task. */
export function modelsFor(
  { models }: Pick<State, "models">,
  task: Pick<Task, "workspace"> | undefined,
): Models {
  return models.get(task?.workspace ?? "") ?? noModels;
}

export function serversListed({ servers = [], problems = [] }: ServersChangedParams): Change {
  return set({ servers, problems });
}

export function serverChanged(server: Server): Change {
  return (state) => {
    const servers = state.servers ?? [];
    const index = servers.findIndex(({ name }) => name === server.name);
    const known = servers[index];
    const offers = state.offers.get(server.name);
    return {
      ...state,
      servers: known === undefined ? [...servers, server] : servers.with(index, server),
      offers:
        offers !== undefined && known?.state !== server.state
          ? new Map(state.offers).set(server.name, afterChange(offers, server))
          : state.offers,
    };
  };
}

function modelsListed(workspace: string, serverName: string, listed: ListedModels): Change {
  return (state) => {
    const ofWorkspace = new Map(state.models.get(workspace)).set(serverName, listed);
    return { ...state, models: new Map(state.models).set(workspace, ofWorkspace) };
  };
}

export type ServersActions = ReturnType<typeof createServers>["actions"];

export function createServers(store: Store) {
  const { request, attempt } = store;
  const inspectors = new Map<string, Reader>();
  /** The changes since the last list was requested, which may be newer than it. Undefined while none is read. */
  let changes: Change[] | undefined;

  async function listServers(): Promise<void> {
    const since: Change[] = [];
    changes = since;
    try {
      const listed = await request("server/list");
      if (changes !== since) return; // a newer list was requested
      for (const change of [serversListed(listed), ...since]) store.update(change);
    } finally {
      if (changes === since) changes = undefined;
    }
  }

  function onChange(change: Change): void {
    changes?.push(change);
    store.update(change);
  }

  function inspectorOf(serverName: string): Reader {
    const known = inspectors.get(serverName);
    if (known !== undefined) return known;
    const inspector = createReader(store, {
      get: ({ inspections }) => inspections.get(serverName) ?? notInspected,
      put: (inspection) => (state) => ({
        ...state,
        inspections: new Map(state.inspections).set(serverName, inspection),
      }),
      read: () => request("server/inspect", { serverName }),
      take: (inspected, result) => ({ ...inspected, result }),
      pauseMs: inspectionPause,
    });
    inspectors.set(serverName, inspector);
    return inspector;
  }

  return {
    listServers,
    listen(client: Client): void {
      client.onNotification("server/changed", (server) => onChange(serverChanged(server)));
      client.onNotification("servers/changed", (params) => onChange(serversListed(params)));
    },
    actions: {
      /** Reads the list of servers again. */
      listServers: (): void => attempt(listServers),
      /** Inspects a server. A second call during an inspection causes one more after it. */
      inspectServer: (serverName: string): void => inspectorOf(serverName).refresh(),
      startServer: (serverName: string): void =>
        attempt(async () => {
          try {
            await request("server/start", { serverName });
          } catch (error) {
            // The server's state shows the reason, at the button that started it.
            if (codeOf(error) !== ErrorCode.ServerFailed) throw error;
          }
        }),
      restartServer: (serverName: string): void =>
        attempt(() => request("server/restart", { serverName })),
      stopServer: (serverName: string): void =>
        attempt(() => request("server/stop", { serverName })),
      /** Reads which models a server may use: those of a task's workspace, or else of the own one. */
      listModels: (serverName: string, task?: Task): void =>
        attempt(async () => {
          const { workspace = "", id: taskId } = task ?? {};
          const { models = [], away } = await request("model/list", {
            serverName,
            ...(workspace !== "" && taskId !== undefined && { taskId }),
          });
          store.update(modelsListed(workspace, serverName, { models, away }));
        }),
      openConfiguration: (position: SourcePosition): void =>
        attempt(() => request("host/openConfiguration", position)),
      /** Lets the host offer servers of other programs. Only for a host with `imports`. */
      importServers: (): void => attempt(() => request("host/importServers")),
      removeExampleServer: (): void =>
        attempt(() => request("host/setExampleServer", { added: false })),
    },
  };
}
