import type { ComponentProps } from "react";
import { Icon } from "./Icon.tsx";

export interface IconButtonProps extends Omit<ComponentProps<"button">, "children"> {
  readonly icon: string;
  /** The button's name, shown as its tooltip if it has no title. */
  readonly label: string;
}

/** A toolbar's button. */
export function IconButton({
  icon,
  label,
  title = label,
  className = "",
  ...rest
}: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`icon-button ${className}`}
      aria-label={label}
      title={title}
    >
      <Icon name={icon} />
    </button>
  );
}
