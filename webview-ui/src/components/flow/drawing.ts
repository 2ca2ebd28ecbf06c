/** A sequence diagram to draw: what the panel tells the frame that draws. */
export interface Drawing {
  /** In Mermaid's language. Text of strangers in it has gone through {@link mermaidText}. */
  readonly code: string;
  /** The participants that stand out, by their names in the code. */
  readonly highlightNodes: readonly string[];
  /** How wide the picture may be, in CSS pixels; participants share it. */
  readonly width: number;
  /** As CSS has them; the size in pixels. */
  readonly fontFamily: string;
  readonly fontSize: number;
  /** The picture's style sheet. It is an image's: nothing outside of the picture is in its reach. */
  readonly css: string;
}

/** What the frame has to say to that. */
export type Drawn =
  /** A whole SVG document. */
  { readonly svg: string } | { readonly problem: string };

/** On the participants of {@link Drawing.highlightNodes}, and on their lifelines. */
export const highlighted = "mermaid-node-highlighted";
