import type { Call } from "@assent/protocol";
import { lazy, Suspense, useState } from "react";
import type { AppCardProps } from "./AppCard.tsx";

const AppCard = lazy(async () => {
  const loaded = await import("./AppCard.tsx");
  return { default: loaded.AppCard };
});

/** The MCP App of a call. Its code is loaded with the first one. A call without a result for the app has none. */
export function LazyApp(props: AppCardProps) {
  // An app that is there when its call is cancelled stays, and hears of it.
  const [shows] = useState(() => hasSomethingToShow(props.call));
  if (!shows) return null;
  return (
    <Suspense fallback={null}>
      <AppCard {...props} />
    </Suspense>
  );
}

function hasSomethingToShow({ result }: Call): boolean {
  return result === undefined || (result.type === "result" && result.removedAfter === undefined);
}
