import { useRef, useState } from "react";
import type { Actions } from "../../store/session.ts";
import { useView } from "../../view/ViewContext.ts";
import type { Wish } from "./AppWish.tsx";
import { type AppOfCall, attachContext } from "./attachContext.ts";
import { textOf } from "./toolResult.ts";

/** What an app asks for. */
export interface AppRequests {
  /** Serves a request. Rejects if it cannot be served. */
  readonly serve: (method: string, params: unknown) => Promise<unknown>;
  /** What only the person can do, until they have answered. */
  readonly wish: Wish | undefined;
  /** The person does it, or not. */
  readonly answer: (granted: boolean) => void;
  /** Gives up what the app asked for. */
  readonly forget: () => void;
}

interface Waiting {
  readonly wish: Wish;
  readonly resolve: (result: object) => void;
}

/** The most wishes in a row that a person dismisses before the app may have no more. */
const maxDismissed = 3;

/** Serves the requests of an open app; appId is undefined while none is open. */
export function useAppRequests(
  actions: Actions,
  app: AppOfCall,
  appId: string | undefined,
  onMessage: (text: string) => void,
): AppRequests {
  const view = useView();
  const [waiting, setWaiting] = useState<Waiting>();
  // Another request may come before the first one is rendered.
  const waits = useRef(false);
  const dismissed = useRef(0);
  const { taskId } = app;

  const wishFor = (wish: Wish): Promise<object> => {
    if (waits.current) throw new Error("The person has not answered the last one yet.");
    if (dismissed.current >= maxDismissed) throw new Error("The person dismissed the last ones.");
    waits.current = true;
    return new Promise((resolve) => setWaiting({ wish, resolve }));
  };
  return {
    async serve(method, params) {
      if (appId === undefined) throw new Error("The app is not open.");
      const request = () => actions.requestApp({ taskId, appId, method, params });
      switch (method) {
        case "ui/message": {
          const text = textOf(params);
          return text === undefined ? { isError: true } : await wishFor({ kind: "message", text });
        }
        case "ui/update-model-context":
          attachContext(view, app, textOf(params));
          return {};
        case "ui/open-link": {
          const url = urlOf(await request());
          return url === undefined ? { isError: true } : await wishFor({ kind: "link", url });
        }
        default:
          return await request();
      }
    },
    wish: waiting?.wish,
    answer(granted) {
      if (waiting === undefined) return;
      const { wish, resolve } = waiting;
      waits.current = false;
      setWaiting(undefined);
      dismissed.current = granted ? 0 : dismissed.current + 1;
      if (granted && wish.kind === "message") onMessage(wish.text);
      resolve(granted ? {} : { isError: true });
    },
    forget() {
      waits.current = false;
      dismissed.current = 0;
      setWaiting(undefined);
    },
  };
}

function urlOf(link: unknown): string | undefined {
  if (typeof link !== "object" || link === null || !("url" in link)) return undefined;
  return typeof link.url === "string" ? link.url : undefined;
}
