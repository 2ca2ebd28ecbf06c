// A server as a program: `--help`, or serving until the client or the person ends it.
// @ts-check
import { serveHttp } from "./http.mjs";
import { serveStdio } from "./stdio.mjs";

/**
 * @template {{port: number | undefined}} Options the port of HTTP; its URL is the first line of stdout. undefined is
 * stdio
 * @param {string} name
 * @param {string} usage
 * @param {(args: readonly string[]) => Options} parse throws an Error that describes the problem
 * @param {(options: Options) => import("./service.mjs").Service | Promise<import("./service.mjs").Service>} open
 */
export async function runProgram(name, usage, parse, open) {
  const args = process.argv.slice(2);
  try {
    if (args.includes("--help")) {
      console.log(usage);
      return;
    }
    const options = parse(args);
    await serve(await open(options), options.port);
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}

/**
 * @param {import("./service.mjs").Service} service
 * @param {number | undefined} port
 */
async function serve(service, port) {
  if (port === undefined) {
    // A client that was killed reads no more, and only it waits.
    process.stdout.on("error", () => process.exit(1));
    await serveStdio(service, process.stdin, process.stdout);
    await service.close();
    return;
  }
  const server = await serveHttp(service, port);
  console.log(server.url);
  await new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, resolve);
  });
  await service.close();
  await server.close();
}
