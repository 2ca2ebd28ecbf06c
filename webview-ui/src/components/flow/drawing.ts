/** A sequence diagram, as the panel sends it to the drawing frame. */
export interface Drawing {
  /** Mermaid code. Foreign text in it has passed through {@link mermaidText}. */
  readonly code: string;
  /** The names of the highlighted participants in the code. */
  readonly highlightNodes: readonly string[];
  /** The image's width in CSS pixels, which the participants share. */
  readonly width: number;
  /** The font as in CSS; the size in pixels. */
  readonly fontFamily: string;
  readonly fontSize: number;
  /** The image's style sheet. It affects nothing outside of the image. */
  readonly css: string;
}

/** The frame's answer. */
export type Drawn =
  /** A whole SVG document. */
  { readonly svg: string } | { readonly problem: string };

/** On the participants of {@link Drawing.highlightNodes}, and on their lifelines. */
export const highlighted = "mermaid-node-highlighted";
