// The transports of this server.
import { fileURLToPath } from "node:url";
import * as wires from "../../kit/testing/wires.ts";

export { headersOf, type Wire } from "../../kit/testing/wires.ts";

const program = fileURLToPath(new URL("../../tasks.mjs", import.meta.url));

export const start = wires.start.bind(undefined, program);

export async function stdioWire(args: readonly string[] = []): Promise<wires.Wire> {
  return await wires.stdioWire(program, args);
}

export async function httpWire(args: readonly string[] = []) {
  return await wires.httpWire(program, args);
}
