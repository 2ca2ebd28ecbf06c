import type { Notice } from "@assent/protocol";
import { visible } from "../../lib/visible.ts";
import { Icon } from "../ui/Icon.tsx";

export interface NoticeRowProps {
  readonly notice: Notice;
}

/** A notice of Assent itself. */
export function NoticeRow({ notice }: NoticeRowProps) {
  return (
    <p className={`notice notice-${notice.level}`}>
      <Icon name={notice.level} />
      <span>{visible(notice.text)}</span>
    </p>
  );
}
