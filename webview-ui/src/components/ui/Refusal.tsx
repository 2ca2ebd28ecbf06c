import { Icon } from "./Icon.tsx";

export interface RefusalProps {
  readonly message: string;
}

/** Why what the person just did was not done. */
export function Refusal({ message }: RefusalProps) {
  return (
    <p role="alert" className="refusal">
      <Icon name="error" />
      <span>{message}</span>
    </p>
  );
}
