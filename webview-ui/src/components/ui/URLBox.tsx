import type { ReactNode } from "react";

/** A URL as text to be read, which opens nothing. It scrolls if it is long. */
export function URLBox({ children }: { readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <p className="page-url" dir="ltr" tabIndex={0}>
      {children}
    </p>
  );
}
