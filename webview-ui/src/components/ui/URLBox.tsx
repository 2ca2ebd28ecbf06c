import type { ReactNode } from "react";

/** A URL as text, not as a link. A long one scrolls. */
export function URLBox({ children }: { readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <p className="page-url" dir="ltr" tabIndex={0}>
      {children}
    </p>
  );
}
