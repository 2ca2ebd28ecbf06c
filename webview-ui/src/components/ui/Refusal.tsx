import { Icon } from "./Icon.tsx";

export interface RefusalProps {
  readonly message: string;
}

/** Why the person's last action failed. */
export function Refusal({ message }: RefusalProps) {
  return (
    <p role="alert" className="refusal">
      <Icon name="error" />
      <span>{message}</span>
    </p>
  );
}
