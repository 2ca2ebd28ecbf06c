import { type ReactNode, type RefObject, useLayoutEffect, useRef } from "react";

export interface SuggestionsProps {
  readonly id: string;
  readonly label: string;
  /** The combobox that the list belongs to. It keeps the focus and has the keys. */
  readonly control: RefObject<HTMLElement | null>;
  readonly count: number;
  /** The place of the option that Enter takes; -1 for none. */
  readonly active: number;
  readonly optionId: (index: number) => string;
  readonly keyOf: (index: number) => string;
  readonly onTake: (index: number) => void;
  /** Draws an option. */
  readonly children: (index: number) => ReactNode;
}

/** The list of a combobox, by the ARIA pattern. It lies above the page, so that no scrolling part cuts it. */
export function Suggestions(props: SuggestionsProps) {
  const { id, label, control, count, active, optionId, keyOf, onTake, children } = props;
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const place = () => placeAt(control.current, list.current);
    place();
    window.addEventListener("scroll", place, true);
    window.addEventListener("resize", place);
    return () => {
      window.removeEventListener("scroll", place, true);
      window.removeEventListener("resize", place);
    };
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: brought into view whenever it is another.
  useLayoutEffect(() => {
    const option = list.current?.querySelector<HTMLElement>(".active");
    if (option && list.current) scrollTo(list.current, option);
  }, [active, count]);
  return (
    <div ref={list} id={id} role="listbox" className="suggestions" aria-label={label}>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus for its options.
        // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys for its options.
        <div
          key={keyOf(index)}
          id={optionId(index)}
          role="option"
          aria-selected={index === active}
          className={index === active ? "suggestion active" : "suggestion"}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(index)}
        >
          {children(index)}
        </div>
      ))}
    </div>
  );
}

const tallest = 180;
const gap = 2;

/** Places the list below its control, or above it if there is more room. */
function placeAt(control: HTMLElement | null, list: HTMLElement | null): void {
  if (control === null || list === null) return;
  const { left, top, bottom, width } = control.getBoundingClientRect();
  const below = window.innerHeight - bottom - 2 * gap;
  const above = top - 2 * gap;
  const isBelow = below >= Math.min(tallest, list.scrollHeight) || below >= above;
  Object.assign(list.style, {
    left: `${left}px`,
    width: `${width}px`,
    maxHeight: `${Math.min(tallest, isBelow ? below : above)}px`,
    top: isBelow ? `${bottom + gap}px` : "auto",
    bottom: isBelow ? "auto" : `${window.innerHeight - top + gap}px`,
  });
}

/** Scrolls the list alone, and not the page below it. */
function scrollTo(list: HTMLElement, option: HTMLElement): void {
  const { offsetTop, offsetHeight } = option;
  if (offsetTop < list.scrollTop) list.scrollTop = offsetTop;
  const end = offsetTop + offsetHeight - list.clientHeight;
  if (end > list.scrollTop) list.scrollTop = end;
}
