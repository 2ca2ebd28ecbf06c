import { useCopy } from "./useCopy.ts";

export interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
}

/** Puts a text on the clipboard, and says whether it is there. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const { copy, status } = useCopy(text);
  return (
    <>
      <button type="button" className="secondary" onClick={() => void copy()}>
        {label}
      </button>
      <span role="status" className="muted">
        {status}
      </span>
    </>
  );
}
