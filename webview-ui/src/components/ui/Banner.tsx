import type { ReactNode } from "react";
import { Icon } from "./Icon.tsx";

export type BannerLevel = "info" | "warning" | "error" | "busy";

export interface BannerProps {
  readonly level: BannerLevel;
  readonly children: ReactNode;
  /** Buttons. */
  readonly actions?: ReactNode;
}

/** A line across the panel, about the panel itself. */
export function Banner({ level, children, actions }: BannerProps) {
  return (
    <div className={`banner banner-${level}`} role={level === "error" ? "alert" : "status"}>
      <Icon name={level === "busy" ? "loading" : level} spin={level === "busy"} />
      <div className="banner-body">
        <div className="banner-text">{children}</div>
        {actions !== undefined && <div className="banner-actions">{actions}</div>}
      </div>
    </div>
  );
}
