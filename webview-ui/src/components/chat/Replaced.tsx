import { count } from "../ui/words.ts";

export interface ReplacedProps {
  readonly n: number;
  readonly open: boolean;
  readonly onToggle: () => void;
}

/** Stands for messages that are not a part of the conversation any more. */
export function Replaced({ n, open, onToggle }: ReplacedProps) {
  return (
    <button type="button" className="link replaced" aria-expanded={open} onClick={onToggle}>
      {open ? `Hide ${count(n, "replaced message")}` : count(n, "replaced message")}
    </button>
  );
}
