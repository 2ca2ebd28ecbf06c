import { fileURLToPath } from "node:url";
import { type InitializeParams, protocolVersion } from "@assent/protocol";
import type { SidecarStatus } from "@assent/protocol/host";
import { onTestFinished } from "vitest";
import { Sidecar, type SidecarOptions, type Timing } from "../sidecar.ts";

/** The program of {@link startSidecar}. */
export const fake = fileURLToPath(new URL("fakeSidecar.ts", import.meta.url));

/** Short pauses for tests. */
const hasty: Partial<Timing> = {
  firstPause: 10,
  longestPause: 80,
  handshake: 30_000,
  closeTimeout: 300,
};

/** The params of the tests' handshake. */
export const introduction: InitializeParams = {
  protocolVersion,
  clientInfo: { name: "test", version: "0" },
  capabilities: {},
  configuration: { model: {} },
};

/** Starts a fake sidecar, or another program, and stops it when the test is over. */
export function startSidecar(mode: string, options: Partial<SidecarOptions> = {}): Sidecar {
  const sidecar = new Sidecar({
    command: process.execPath,
    args: () => [fake, mode],
    initializeParams: async () => introduction,
    log: () => {},
    handlers: {},
    timing: hasty,
    ...options,
  });
  onTestFinished(() => sidecar.stop());
  sidecar.start();
  return sidecar;
}

/** Waits for a state, ignoring earlier ones, and returns the status. */
export async function reach<S extends SidecarStatus["state"]>(
  sidecar: Sidecar,
  state: S,
): Promise<Extract<SidecarStatus, { state: S }>> {
  const isReached = (status: SidecarStatus): status is Extract<SidecarStatus, { state: S }> =>
    status.state === state;
  if (isReached(sidecar.status)) return sidecar.status;
  return await new Promise((resolve) => {
    const unsubscribe = sidecar.onStatus((status) => {
      if (!isReached(status)) return;
      unsubscribe();
      resolve(status);
    });
  });
}

/** Waits for the next notification of a method and returns its params. */
export async function nextNotification(sidecar: Sidecar, wanted: string): Promise<unknown> {
  return await new Promise((resolve) => {
    const unsubscribe = sidecar.onNotification((method, params) => {
      if (method !== wanted) return;
      unsubscribe();
      resolve(params);
    });
  });
}
