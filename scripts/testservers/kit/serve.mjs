// Serves as the command line says, until the client or the person ends it.
// @ts-check
import { serveHttp } from "./http.mjs";
import { serveStdio } from "./stdio.mjs";

/**
 * @param {import("./service.mjs").Service} service
 * @param {number | undefined} port of HTTP, whose URL is the first line of stdout; undefined is stdio
 * @param {() => Promise<void>} close ends what the service does, before its connections end
 */
export async function serve(service, port, close) {
  if (port === undefined) {
    // A client that was killed reads no more, and nothing but it is waiting.
    process.stdout.on("error", () => process.exit(1));
    await serveStdio(service, process.stdin, process.stdout);
    await close();
    return;
  }
  const server = await serveHttp(service, port);
  console.log(server.url);
  await new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, resolve);
  });
  await close();
  await server.close();
}
