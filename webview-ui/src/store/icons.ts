import type { ListIconsResult } from "@assent/protocol";
import type { Change } from "./state.ts";
import type { Store } from "./store.ts";

export interface IconsState {
  /** The icons of servers, tools, resources and prompts, by server name. */
  readonly icons: ReadonlyMap<string, ListIconsResult>;
}

declare module "./state.ts" {
  interface State extends IconsState {}
}

export const initialIcons: IconsState = { icons: new Map() };

function iconsRead(serverName: string, icons: ListIconsResult): Change {
  return (state) => ({ ...state, icons: new Map(state.icons).set(serverName, icons) });
}

export type IconsActions = ReturnType<typeof createIcons>["actions"];

export function createIcons(store: Store) {
  /** The revision of each server's icons that was asked for last. */
  let asked = new Map<string, number>();

  async function read(serverName: string, revision: number): Promise<void> {
    const before = asked;
    before.set(serverName, revision);
    try {
      const icons = await store.request("icons/list", { serverName });
      // A later reading replaces this one.
      if (asked.get(serverName) === revision) store.update(iconsRead(serverName, icons));
    } catch {
      // An icon is not worth a message. The next drawing of one asks again.
      before.delete(serverName);
    }
  }

  return {
    /** A new sidecar counts its revisions from the start. */
    forget(): void {
      asked = new Map();
    },
    actions: {
      /** Reads the icons of a server, unless its newest ones were asked for. */
      loadIcons(serverName: string): void {
        const server = store.state.servers?.find(({ name }) => name === serverName);
        const revision = server?.iconsRevision;
        if (revision === undefined || asked.get(serverName) === revision) return;
        void read(serverName, revision);
      },
    },
  };
}
