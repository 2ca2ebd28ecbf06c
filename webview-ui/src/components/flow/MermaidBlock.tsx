import { useEffect, useRef, useState } from "react";
import type { Drawing } from "./drawing.ts";
import { styleSheet, useLook, useStillness } from "./look.ts";
import { useWidth } from "./useWidth.ts";

export interface MermaidBlockProps {
  /** A sequence diagram in Mermaid's language. */
  readonly code: string;
  /** The highlighted participants. */
  readonly highlightNodes?: readonly string[];
  /** They pulse, unless the person prefers reduced motion. */
  readonly animating?: boolean;
  /** The alternative text. It is shown until there is an image, and if drawing fails. */
  readonly description: string;
  /** Draws an image and returns its URL. */
  readonly draw?: (drawing: Drawing) => Promise<string>;
}

/** The widths of a drawing in pixels. A narrower panel scales the image down. */
const narrowest = 200;
const widest = 560;

/** A diagram as an image. drawImage.ts says why it is only an image. */
export function MermaidBlock(props: MermaidBlockProps) {
  const { code, highlightNodes = [], animating = false, description, draw = drawLazily } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const look = useLook();
  const still = useStillness();
  const [image, setImage] = useState<string>();

  const { fontFamily, fontSize } = look;
  const css = styleSheet(look, animating && !still);
  const nodes = highlightNodes.join(" ");
  useEffect(() => {
    if (width === 0) return;
    let wanted = true;
    const show = (url: string | undefined) => {
      if (wanted) setImage(url);
    };
    draw({
      code,
      highlightNodes: nodes === "" ? [] : nodes.split(" "),
      width: Math.max(narrowest, Math.min(width, widest)),
      fontFamily,
      fontSize,
      css,
    }).then(
      show,
      // The person cannot fix this, and the alternative text is shown.
      () => show(undefined),
    );
    return () => {
      wanted = false;
    };
  }, [draw, code, nodes, width, fontFamily, fontSize, css]);

  return (
    <div ref={box} className="diagram">
      {image === undefined ? (
        <p className="muted">{description}</p>
      ) : (
        <img src={image} alt={description} onError={() => setImage(undefined)} />
      )}
    </div>
  );
}

async function drawLazily(drawing: Drawing): Promise<string> {
  const { drawImage } = await import("./drawImage.ts");
  return await drawImage(drawing);
}
