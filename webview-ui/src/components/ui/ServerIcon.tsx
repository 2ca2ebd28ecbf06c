import { useState } from "react";
import { type IconList, useIcon } from "./icons.ts";

export interface ServerIconProps {
  readonly serverName: string;
  /** The list and the item that the icon is of; without them, the server's own. */
  readonly list?: IconList | undefined;
  readonly item?: string | undefined;
}

/**
 * The icon that a server declares. It is decorative, and takes no space if there is none. An image runs no script and
 * loads nothing, so that an SVG picture is harmless here.
 */
export function ServerIcon({ serverName, list, item }: ServerIconProps) {
  const src = useIcon(serverName, list, item);
  const [broken, setBroken] = useState<string>();
  if (src === undefined || src === broken) return null;
  return <img className="server-icon" src={src} alt="" onError={() => setBroken(src)} />;
}
