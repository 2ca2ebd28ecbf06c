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

  /** Forgets everything that the sidecar had kept, such as what servers gave it at a sign-in. */
  async forget(): Promise<void> {
    const keys = await this.#secrets.keys();
    await Promise.all(
      keys.filter((key) => key.startsWith(prefix)).map((key) => this.#secrets.delete(key)),
    );
  }

  async set({ key, value }: SetSecretParams): Promise<SetSecretResult> {
    if (value === null) await this.#secrets.delete(prefix + key);
    else await this.#secrets.store(prefix + key, value.secret);
    return {};
  }
}
