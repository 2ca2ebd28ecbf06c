import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";

export interface TabsProps<K extends string> {
  /** Names the row of tabs. */
  readonly label: string;
  readonly tabs: readonly { readonly key: K; readonly label: string }[];
  readonly chosen: K;
  readonly onChoose: (key: K) => void;
  /** The content of the chosen tab. */
  readonly children: ReactNode;
}

/**
 * Tabs by the ARIA pattern: a single Tab stop, arrow keys between them, and the focused tab is shown. A single tab is
 * only its content.
 */
export function Tabs<K extends string>({ label, tabs, chosen, onChoose, children }: TabsProps<K>) {
  const prefix = useId();
  const row = useRef<HTMLDivElement>(null);
  if (tabs.length < 2) return children;

  const index = tabs.findIndex(({ key }) => key === chosen);
  const moves: Readonly<Record<string, number>> = {
    ArrowRight: (index + 1) % tabs.length,
    ArrowLeft: (index + tabs.length - 1) % tabs.length,
    Home: 0,
    End: tabs.length - 1,
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moves[event.key];
    const tab = next === undefined ? undefined : tabs[next];
    if (next === undefined || tab === undefined) return;
    event.preventDefault();
    onChoose(tab.key);
    row.current?.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };

  return (
    <>
      <div ref={row} role="tablist" className="tabs" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ key, label }) => (
          <button
            key={key}
            type="button"
            role="tab"
            id={`${prefix}-${key}`}
            className="tab"
            aria-selected={key === chosen}
            aria-controls={key === chosen ? `${prefix}-panel` : undefined}
            tabIndex={key === chosen ? 0 : -1}
            onClick={() => onChoose(key)}
          >
            {label}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${prefix}-panel`}
        className="tab-panel"
        aria-labelledby={`${prefix}-${chosen}`}
      >
        {children}
      </div>
    </>
  );
}
