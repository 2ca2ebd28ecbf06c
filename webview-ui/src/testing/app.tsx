import { render, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect } from "vitest";
import { App } from "../components/app/App.tsx";
import type { Session } from "../store/session.ts";
import { type ViewState, ViewStateStore } from "../view/viewState.ts";
import { type FakeHost, startSession } from "./host.ts";

/** A view's stored state, in memory. */
export class MemoryStorage {
  // Most tests of the panel are about using a server without a model.
  saved: unknown = { runner: { open: true } };

  load(): unknown {
    return this.saved;
  }

  save(state: ViewState): void {
    this.saved = JSON.parse(JSON.stringify(state));
  }
}

/** Renders the whole panel, with a host at the other end of a real JSON-RPC connection. */
export function showApp(host: FakeHost, storage = new MemoryStorage()) {
  const view = new ViewStateStore(storage);
  const session = startSession(host, view);
  const drawn = render(<App session={session} view={view} />);
  return { ...drawn, session, view, storage, user: userEvent.setup() };
}

/**
 * Waits until the policy is read and no reading is due. The page reads it a second time soon after it opens. Without
 * this wait, that reading would also show a change after which the page reads nothing.
 */
export async function policyIsRead(session: Session): Promise<void> {
  await waitFor(() =>
    expect(session.getState().policy).toMatchObject({ reading: false, missed: false }),
  );
}
