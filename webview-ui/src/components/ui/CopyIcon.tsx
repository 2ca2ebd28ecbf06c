import { IconButton } from "./IconButton.tsx";
import { useCopy } from "./useCopy.ts";

export interface CopyIconProps {
  readonly text: string;
  readonly label: string;
}

/** An icon that copies a text to the clipboard, and says whether that worked. */
export function CopyIcon({ text, label }: CopyIconProps) {
  const { copy, copied, status } = useCopy(text);
  const icon = copied === undefined ? "copy" : copied ? "check" : "error";
  return (
    <>
      <IconButton icon={icon} label={label} onClick={() => void copy()} />
      <span role="status" className="visually-hidden">
        {status}
      </span>
    </>
  );
}
