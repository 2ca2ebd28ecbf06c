import { lazy, Suspense } from "react";
import type { FormAppProps } from "./FormApp.tsx";

const FormApp = lazy(async () => {
  const loaded = await import("./FormApp.tsx");
  return { default: loaded.FormApp };
});

/** The app of a form. Its code is loaded with the first one. */
export function LazyFormApp(props: FormAppProps) {
  return (
    <Suspense fallback={null}>
      <FormApp {...props} />
    </Suspense>
  );
}
