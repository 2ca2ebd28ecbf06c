import { type ReactNode, useMemo, useSyncExternalStore } from "react";
import type { Session } from "../../store/session.ts";
import { type Icons, IconsContext } from "../ui/icons.ts";
import { isLightTheme, onThemeChange } from "../ui/theme.ts";

export interface ProvideIconsProps {
  readonly session: Session;
  readonly children: ReactNode;
}

/** Provides the icons of the servers of the panel's own workspace, for the theme that the page has now. */
export function ProvideIcons({ session, children }: ProvideIconsProps) {
  const { subscribe, getState, actions } = session;
  const light = useSyncExternalStore(onThemeChange, isLightTheme);
  const read = useSyncExternalStore(subscribe, () => getState().icons);
  const servers = useSyncExternalStore(subscribe, () => getState().servers);
  const icons = useMemo((): Icons => {
    const revisions = (servers ?? []).flatMap(({ name, iconsRevision }) =>
      iconsRevision === undefined ? [] : [[name, iconsRevision] as const],
    );
    return { light, revisions: new Map(revisions), read, load: actions.loadIcons };
  }, [light, servers, read, actions]);
  return <IconsContext value={icons}>{children}</IconsContext>;
}
