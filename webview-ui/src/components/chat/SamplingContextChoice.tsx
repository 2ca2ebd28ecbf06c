import type { SamplingContext } from "@assent/protocol";
import { Disclosure } from "../ui/Disclosure.tsx";
import { visible } from "../ui/visible.ts";
import { count } from "../ui/words.ts";
import { Verbatim } from "./ContentBlocks.tsx";

export interface SamplingContextChoiceProps {
  readonly context: SamplingContext;
  readonly included: boolean;
  readonly disabled: boolean;
  readonly onInclude: (included: boolean) => void;
  readonly keep: string;
}

/**
 * What a server asks to be given of the conversation (2025-11-25, "Sampling: includeContext"). It was not
 * the server's before, so it goes only where the person says so.
 */
export function SamplingContextChoice(props: SamplingContextChoiceProps) {
  const { context, included, disabled, onInclude, keep } = props;
  const { text, serverNames = [], omitted = 0 } = context;
  const from = serverNames.length === 0 ? "" : ` from ${serverNames.map(visible).join(", ")}`;
  return (
    <div className="sampling-context">
      <Disclosure
        keep={`${keep}:context`}
        summary={`The server asks to be given context: ${count(text.length, "character")}${from}`}
      >
        <Verbatim text={text} />
        {omitted > 0 && (
          <p className="muted">
            {count(omitted, "older result")} did not fit and {omitted === 1 ? "is" : "are"} not in
            it.
          </p>
        )}
      </Disclosure>
      <label className="tick">
        <input
          type="checkbox"
          checked={included}
          disabled={disabled}
          onChange={(event) => onInclude(event.target.checked)}
        />
        Send it along
      </label>
    </div>
  );
}
