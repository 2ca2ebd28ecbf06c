import {
  type AppNetwork,
  type AppRequestParams,
  ErrorCode,
  type OpenAppParams,
  type OpenAppResult,
} from "@assent/protocol";
import { RpcError } from "../link/client.ts";
import type { Store } from "./store.ts";

export type AppsActions = ReturnType<typeof createApps>["actions"];

/** An app that is shown. */
interface ShownApp {
  readonly taskId: string;
  readonly messageId: number;
  /** What the person decided when its page was loaded. */
  readonly network: AppNetwork | undefined;
  /** Resolves to its id in the sidecar; undefined once that sidecar has ended. */
  registered: Promise<string> | undefined;
}

/**
 * The apps that are shown. An app outlives the sidecar: its page runs on in its frame, with all that the person did there.
 * So its first request to another sidecar opens it there, under the id that components know.
 */
export function createApps(store: Store) {
  const { request } = store;
  const shown = new Map<string, ShownApp>();

  const close = (taskId: string, appId: string): void => {
    // A sidecar that is gone has closed it already.
    request("app/close", { taskId, appId }).catch(() => {});
  };

  const register = async (id: string, app: ShownApp): Promise<string> => {
    const { taskId, messageId, network } = app;
    const { appId, ...opened } = await request("app/open", { taskId, messageId });
    if (appId !== undefined && opened.network === network && shown.has(id)) return appId;
    if (appId !== undefined) close(taskId, appId);
    // The page that runs may have addresses that the person does not allow any more.
    throw new RpcError(ErrorCode.InvalidRequest, "The app is not open any more. Reload it.");
  };

  /** The app's id in the sidecar that runs. Its requests that come at once open it once. */
  const idOf = async (id: string): Promise<string> => {
    const app = shown.get(id);
    if (app === undefined) return id;
    if (app.registered === undefined) {
      const registered = register(id, app);
      app.registered = registered;
      registered.catch(() => {
        if (app.registered === registered) app.registered = undefined;
      });
    }
    return await app.registered;
  };

  return {
    /** The sidecar has ended, and knows no app any more. */
    ended(): void {
      for (const app of shown.values()) app.registered = undefined;
    },
    actions: {
      /** Opens the app of a call, or returns what the person has to decide first. Rejects with an {@link RpcError}. */
      async openApp(params: OpenAppParams, signal: AbortSignal): Promise<OpenAppResult> {
        const opened = await request("app/open", params, { signal });
        const { appId, url, network } = opened;
        if (appId === undefined || url === undefined) return opened;
        const { taskId, messageId } = params;
        shown.set(appId, { taskId, messageId, network, registered: Promise.resolve(appId) });
        if (!store.state.mapsFrames) return opened;
        return { ...opened, ...(await request("host/frameUrl", { url })) };
      },
      /** Closes an app. */
      closeApp(taskId: string, appId: string): void {
        const app = shown.get(appId);
        shown.delete(appId);
        app?.registered?.then((id) => close(taskId, id)).catch(() => {});
      },
      /** Makes a request of an app. Resolves to the server's result; rejects with an {@link RpcError}. */
      async requestApp(params: AppRequestParams): Promise<unknown> {
        const appId = await idOf(params.appId);
        return (await request("app/request", { ...params, appId })).result;
      },
    },
  };
}
