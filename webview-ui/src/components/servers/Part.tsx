import { type ReactNode, useId } from "react";

export interface PartProps {
  readonly heading: string;
  readonly children: ReactNode;
}

/** A part of a server's page. */
export function Part({ heading, children }: PartProps) {
  const headingId = useId();
  return (
    <section className="server-part" aria-labelledby={headingId}>
      <h3 id={headingId}>{heading}</h3>
      {children}
    </section>
  );
}
