import type { Notice } from "@assent/protocol";
import { Icon } from "../ui/Icon.tsx";

export interface NoticeRowProps {
  readonly notice: Notice;
}

/** Something that Assent itself has to say. */
export function NoticeRow({ notice }: NoticeRowProps) {
  return (
    <p className={`notice notice-${notice.level}`}>
      <Icon name={notice.level} />
      <span>{notice.text}</span>
    </p>
  );
}
