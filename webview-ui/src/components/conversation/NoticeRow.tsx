import type { Notice } from "@assent/protocol";
import { Icon } from "../ui/Icon.tsx";
import { visible } from "../ui/visible.ts";

export interface NoticeRowProps {
  readonly notice: Notice;
}

/** Something that Assent itself has to say. */
export function NoticeRow({ notice }: NoticeRowProps) {
  return (
    <p className={`notice notice-${notice.level}`}>
      <Icon name={notice.level} />
      <span>{visible(notice.text)}</span>
    </p>
  );
}
