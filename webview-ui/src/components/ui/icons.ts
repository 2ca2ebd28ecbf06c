import type { ListIconsResult } from "@assent/protocol";
import { createContext, useContext, useEffect } from "react";

/** The lists of things that may have icons. */
export type IconList = "tools" | "resources" | "resourceTemplates" | "prompts";

/** The icons of servers, tools, resources and prompts, as far as they are read. */
export interface Icons {
  /** The page has a light theme. */
  readonly light: boolean;
  /** The newest revision of each server's icons. A server without icons is missing. */
  readonly revisions: ReadonlyMap<string, number>;
  readonly read: ReadonlyMap<string, ListIconsResult>;
  /** Reads the icons of a server, if they are not read yet. */
  readonly load: (serverName: string) => void;
}

export const noIcons: Icons = {
  light: false,
  revisions: new Map(),
  read: new Map(),
  load: () => {},
};

export const IconsContext = createContext<Icons>(noIcons);

/** Returns a server's icon, or that of an item in one of its lists, as a data: URI; undefined if it has none. */
export function useIcon(serverName: string, list?: IconList, item = ""): string | undefined {
  const { light, revisions, read, load } = useContext(IconsContext);
  const revision = revisions.get(serverName);
  useEffect(() => {
    if (revision !== undefined) load(serverName);
  }, [revision, load, serverName]);
  const icons = revision === undefined ? undefined : read.get(serverName);
  if (icons === undefined) return undefined;
  const places = list === undefined ? icons.server : icons[list]?.[item];
  return places && icons.images?.[light ? places.light : places.dark];
}
