export interface IconProps {
  /** A codicon's name, without the prefix. */
  readonly name: string;
  /** Rotates, unless the person prefers reduced motion. */
  readonly spin?: boolean;
}

/** A decorative codicon. The text beside it says the same. */
export function Icon({ name, spin = false }: IconProps) {
  return (
    <span
      className={`codicon codicon-${name}${spin ? " codicon-modifier-spin" : ""}`}
      aria-hidden="true"
    />
  );
}
