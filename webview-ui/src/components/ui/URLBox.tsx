import type { ReactNode } from "react";

/** A whole URL as text, not as a link. It does not scroll by itself, so that its end is seen where what is around it ends. */
export function URLBox({ children }: { readonly children: ReactNode }) {
  return (
    <p className="page-url" dir="ltr">
      {children}
    </p>
  );
}
