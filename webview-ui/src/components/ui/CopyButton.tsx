import { useCopy } from "./useCopy.ts";

export interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
}

/** Copies a text to the clipboard, and says whether that worked. */
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
