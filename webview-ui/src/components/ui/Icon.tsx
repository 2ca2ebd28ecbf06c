export interface IconProps {
  /** A codicon's name, without the prefix. */
  readonly name: string;
  /** Turns, unless the person wants less motion. */
  readonly spin?: boolean;
}

/** A codicon. It decorates: what it means is said in words beside it. */
export function Icon({ name, spin = false }: IconProps) {
  return (
    <span
      className={`codicon codicon-${name}${spin ? " codicon-modifier-spin" : ""}`}
      aria-hidden="true"
    />
  );
}
