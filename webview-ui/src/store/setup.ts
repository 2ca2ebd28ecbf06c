import type {
  ApplySetupParams,
  ApplySetupResult,
  RestoreSetupResult,
  SetupChoice,
  SetupPlan,
} from "@assent/protocol";
import type { Store } from "./store.ts";

export type SetupActions = ReturnType<typeof createSetup>["actions"];

/** The setup of other programs. No state is kept: the page reads a plan, and the next one after each choice. */
export function createSetup(store: Store) {
  const { request } = store;
  return {
    actions: {
      /** Plans, and changes nothing. Rejects with an {@link RpcError} if Assent's own files cannot be read. */
      planSetup: (choice: SetupChoice): Promise<SetupPlan> => request("setup/plan", { choice }),
      /**
       * Carries out a plan. Resolves with undefined if the person did not want other programs to start Assent. Rejects with
       * an {@link RpcError} if nothing was changed.
       */
      async applySetup(params: ApplySetupParams): Promise<ApplySetupResult | undefined> {
        if (store.state.setsUp && !(await request("host/addProgram")).added) return undefined;
        return await request("setup/apply", params);
      },
      /** Undoes all runs. Rejects with an {@link RpcError} if the record of the runs cannot be read. */
      restoreSetup: (): Promise<RestoreSetupResult> => request("setup/restore"),
    },
  };
}
