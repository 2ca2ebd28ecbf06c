import * as l10n from "@vscode/l10n";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { IconButton } from "../ui/IconButton.tsx";

export interface ZoomableImageProps {
  /** A data URI. */
  readonly src: string;
  readonly alt: string;
  /** The image cannot be decoded. */
  readonly onError: () => void;
}

/** An image that a press enlarges over the whole panel. */
export function ZoomableImage({ src, alt, onError }: ZoomableImageProps) {
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        ref={opener}
        type="button"
        className="zoomable"
        aria-label={l10n.t("Enlarge: {0}", alt)}
        title={l10n.t("Enlarge")}
        onClick={() => setOpen(true)}
      >
        <img className="content-image" src={src} alt={alt} onError={onError} />
      </button>
      {open && (
        <Enlarged
          src={src}
          alt={alt}
          onClose={() => {
            setOpen(false);
            opener.current?.focus();
          }}
        />
      )}
    </>
  );
}

interface EnlargedProps {
  readonly src: string;
  readonly alt: string;
  readonly onClose: () => void;
}

/** One step of zooming, and the widest and narrowest image in CSS pixels. */
const factor = 1.5;
const widest = 8000;
const narrowest = 16;

function Enlarged({ src, alt, onClose }: EnlargedProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const image = useRef<HTMLImageElement>(null);
  // Undefined fits the image into the panel.
  const [width, setWidth] = useState<number>();
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => {
    // While it is modal, nothing outside can take the focus.
    dialog.current?.close();
    onClose();
  };

  const zoom = (by: number) => {
    const now = width ?? image.current?.clientWidth ?? 0;
    setWidth(Math.min(widest, Math.max(narrowest, Math.round(now * by))));
  };
  const keys: Readonly<Record<string, () => void>> = {
    "+": () => zoom(factor),
    "=": () => zoom(factor),
    "-": () => zoom(1 / factor),
    "0": () => setWidth(undefined),
    Escape: close,
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Elsewhere in the panel, Escape closes other things.
    event.stopPropagation();
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return (
    <dialog
      ref={dialog}
      className="enlarged"
      aria-label={alt}
      onKeyDown={onKeyDown}
      onCancel={close}
    >
      <div className="enlarged-bar">
        <IconButton icon="zoom-in" label={l10n.t("Zoom In (+)")} onClick={() => zoom(factor)} />
        <IconButton
          icon="zoom-out"
          label={l10n.t("Zoom Out (-)")}
          onClick={() => zoom(1 / factor)}
        />
        <IconButton
          icon="screen-full"
          label={l10n.t("Fit (0)")}
          onClick={() => setWidth(undefined)}
        />
        <IconButton icon="close" label={l10n.t("Close (Escape)")} onClick={close} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is scrolled by the keyboard, too. */}
      <section className="enlarged-area" aria-label={l10n.t("Enlarged image")} tabIndex={0}>
        <img
          ref={image}
          className={width === undefined ? "enlarged-fit" : "enlarged-wide"}
          src={src}
          alt={alt}
          width={width}
        />
      </section>
    </dialog>
  );
}
