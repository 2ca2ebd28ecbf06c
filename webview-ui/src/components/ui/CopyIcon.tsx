import { useState } from "react";
import { IconButton } from "./IconButton.tsx";

export interface CopyIconProps {
  readonly text: string;
  readonly label: string;
}

/** Puts a text on the clipboard where there is no room for words, and says whether it is there. */
export function CopyIcon({ text, label }: CopyIconProps) {
  const [copied, setCopied] = useState<boolean>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      setCopied(false);
    }
  };
  const icon = copied === undefined ? "copy" : copied ? "check" : "error";
  return (
    <>
      <IconButton icon={icon} label={label} onClick={() => void copy()} />
      <span role="status" className="visually-hidden">
        {copied === true && "Copied."}
        {copied === false && "The clipboard is not to be had; select the text instead."}
      </span>
    </>
  );
}
