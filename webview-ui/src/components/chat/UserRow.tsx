import type { UserMessage } from "@assent/protocol";

export interface UserRowProps {
  readonly said: UserMessage;
}

/** What the person said to the model. */
export function UserRow({ said }: UserRowProps) {
  return (
    <div className="turn">
      <p className="turn-role">You</p>
      <p>{said.text}</p>
    </div>
  );
}
