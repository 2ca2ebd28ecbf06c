import { Marked } from "./Marked.tsx";

/** A text as it is, with its hidden characters named and its secrets marked. */
export function Verbatim({ text }: { readonly text: string }) {
  return (
    <pre className="verbatim">
      <Marked text={text} />
    </pre>
  );
}
