import type { OpenAppResult } from "@assent/protocol";
import { expect, test, vi } from "vitest";
import { FakeHost, startSession } from "../testing/host.ts";
import { task } from "../testing/samples.ts";
import { ViewStateStore } from "../view/viewState.ts";

const params = { taskId: "t1", messageId: 1 };
const list = { taskId: "t1", appId: "app1", method: "resources/list" };

/** A session with an open app. The host gives each opened app another id. */
async function start() {
  let opened = 0;
  const open = vi.fn(async (): Promise<OpenAppResult> => {
    opened += 1;
    return { appId: `app${opened}`, url: `http://127.0.0.1:40123/frame/app${opened}` };
  });
  const host = new FakeHost(task(), [], {
    "app/open": open,
    "app/close": () => ({}),
    "app/request": ({ appId }) => ({ result: appId }),
  });
  const session = startSession(host, new ViewStateStore({ load: () => undefined, save() {} }));
  await expect.poll(() => session.getState().sidecar.state).toBe("running");
  const { actions } = session;
  const { appId } = await actions.openApp(params, new AbortController().signal);
  expect(appId).toBe("app1");
  return { host, session, actions, open };
}

test("an app goes on after a lost link", async () => {
  const { host, session, actions, open } = await start();
  expect(await actions.requestApp(list)).toBe("app1");
  session.down(500);
  await expect(actions.requestApp(list)).rejects.toThrow("There is no connection");
  host.connect(session);
  expect(await actions.requestApp(list)).toBe("app2");
  expect(await actions.requestApp(list)).toBe("app2");
  expect(open).toHaveBeenCalledTimes(2);
  actions.closeApp("t1", "app1");
  await expect.poll(() => host.calls("app/close")).toEqual([{ taskId: "t1", appId: "app2" }]);
});

test("an app that is closed before the next sidecar has opened it is closed there", async () => {
  const { host, session, actions, open } = await start();
  await host.tell("host/sidecarStatus", { state: "starting" });
  await expect.poll(() => session.getState().sidecar.state).toBe("starting");
  let go = (_: OpenAppResult): void => {};
  open.mockImplementationOnce(() => new Promise((resolve) => (go = resolve)));
  const refused = expect(actions.requestApp(list)).rejects.toThrow("is not open any more");
  await expect.poll(() => open).toHaveBeenCalledTimes(2);
  actions.closeApp("t1", "app1");
  go({ appId: "late", url: "http://127.0.0.1:40123/frame/late" });
  await expect.poll(() => host.calls("app/close")).toEqual([{ taskId: "t1", appId: "late" }]);
  await refused;
});

test("an app that could not be opened again is tried at its next request", async () => {
  const { host, actions, open, session } = await start();
  session.down(500);
  host.connect(session);
  open.mockRejectedValueOnce(new Error("The server does not start."));
  await expect(actions.requestApp(list)).rejects.toThrow();
  expect(await actions.requestApp(list)).toBe("app2");
});
