import type {
  GetSecretParams,
  GetSecretResult,
  SetSecretParams,
  SetSecretResult,
} from "@assent/protocol";
import type * as vscode from "vscode";

/** Separates the sidecar's secrets from the values of inputs and the keys of models. */
const prefix = "sidecar:";

/** Stores the sidecar's secrets in VS Code's secret storage. */
export class Secrets {
  readonly #secrets: vscode.SecretStorage;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
  }

  async get({ key }: GetSecretParams): Promise<GetSecretResult> {
    const secret = await this.#secrets.get(prefix + key);
    return { value: secret === undefined ? null : { secret } };
  }

  /** Forgets all secrets of the sidecar, such as sign-ins at servers. */
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
