import type {
  GetSecretParams,
  GetSecretResult,
  SetSecretParams,
  SetSecretResult,
} from "@assent/protocol";
import type * as vscode from "vscode";

/** Sets the sidecar's secrets apart from the values of inputs and from a model's key. */
const prefix = "sidecar:";

/** Keeps the sidecar's secrets where VS Code keeps its own. */
export class Secrets {
  readonly #secrets: vscode.SecretStorage;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
  }

  async get({ key }: GetSecretParams): Promise<GetSecretResult> {
    const secret = await this.#secrets.get(prefix + key);
    return { value: secret === undefined ? null : { secret } };
  }

  async set({ key, value }: SetSecretParams): Promise<SetSecretResult> {
    if (value === null) await this.#secrets.delete(prefix + key);
    else await this.#secrets.store(prefix + key, value.secret);
    return {};
  }
}
