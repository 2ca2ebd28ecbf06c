import { useState } from "react";

export interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
}

/** Puts a text on the clipboard, and says whether it is there. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [copied, setCopied] = useState<boolean>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      setCopied(false);
    }
  };
  return (
    <>
      <button type="button" className="secondary" onClick={() => void copy()}>
        {label}
      </button>
      <span role="status" className="muted">
        {copied === true && "Copied."}
        {copied === false && "The clipboard is not to be had; select the text instead."}
      </span>
    </>
  );
}
