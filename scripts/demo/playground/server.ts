import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { type Channel, openChannel } from "../../../extension/src/channel.ts";
import { page } from "../../../extension/src/page.ts";
import { extensionFolder } from "../../tools/lib/paths.ts";

export interface PlaygroundOptions {
  /** 0 chooses a free one. */
  readonly port: number;
  /** The folder with the built webview. */
  readonly webview: string;
  /** Takes in the page of one browser tab. */
  attach(channel: Channel): void;
}

export interface Playground {
  /** Where the page is, with the token that opens it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** More than any answer of a person's, and few enough to hold in memory. */
const maxPayload = 16 * 1024 * 1024;

/**
 * Serves the webview to browsers on this machine. Whoever gets through could run tools, so three
 * things are asked of them: a token, which other users of the machine do not have; a Host header of
 * ours, which a rebound DNS name does not send; and our Origin, which no other website has.
 */
export async function startPlayground(options: PlaygroundOptions): Promise<Playground> {
  const token = randomBytes(32).toString("base64url");
  const http = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(asError(error)));
  });
  http.listen(options.port, "127.0.0.1");
  await once(http, "listening");
  // A connection that could not be accepted is its client's trouble: an error without a listener would end the process.
  http.on("error", (error) => console.error(`The playground: ${error.message}`));
  const address = http.address();
  if (address === null || typeof address === "string") throw new Error("no TCP address");
  const hosts = [`127.0.0.1:${address.port}`, `localhost:${address.port}`];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = urlOf(request);
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("Cross-Origin-Resource-Policy", "same-origin");
    response.setHeader("Referrer-Policy", "no-referrer");
    response.setHeader("X-Content-Type-Options", "nosniff");
    if (!isHostOurs(request) || !isOriginOurs(request, request.headers.origin === undefined)) {
      refuse(response, "This address is not the playground's own.");
    } else if (request.method !== "GET") {
      response.writeHead(405).end();
    } else if (pathname.startsWith(assets)) {
      await sendFile(response, options.webview, pathname.slice(assets.length));
    } else if (pathname === "/favicon.ico") {
      await sendFile(response, join(extensionFolder, "media"), "icon.png");
    } else if (pathname !== "/") {
      response.writeHead(404).end();
    } else if (!isTokenOurs(searchParams)) {
      refuse(response, "The token is missing or wrong: open the URL that npm run demo printed.");
    } else {
      sendPage(response);
    }
  }

  function isHostOurs(request: IncomingMessage): boolean {
    return hosts.includes(request.headers.host ?? "");
  }

  /** A browser sends no Origin with a page's own GET, and always sends one with a WebSocket. */
  function isOriginOurs(request: IncomingMessage, mayBeAbsent: boolean): boolean {
    const { origin } = request.headers;
    return origin === undefined ? mayBeAbsent : hosts.some((host) => origin === `http://${host}`);
  }

  function isTokenOurs(params: URLSearchParams): boolean {
    const expected = Buffer.from(token);
    const given = Buffer.from(params.get("token") ?? "");
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  const sockets = new WebSocketServer({ noServer: true, maxPayload });
  http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Node.js hands the socket over without listeners. Its client may reset it at any time, which closes it.
    socket.on("error", () => {});
    const { pathname, searchParams } = urlOf(request);
    const welcome =
      isHostOurs(request) && isOriginOurs(request, false) && isTokenOurs(searchParams);
    if (pathname !== "/bridge" || !welcome) {
      const refusal = "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
      socket.end(refusal, () => socket.destroy()); // else a client that stays keeps the server from closing
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      options.attach(channelOver(webSocket));
    });
  });

  return {
    url: `http://127.0.0.1:${address.port}/?token=${token}`,
    async stop() {
      for (const webSocket of sockets.clients) webSocket.terminate();
      http.close();
      http.closeAllConnections();
      await once(http, "close");
    },
  };
}

const assets = "/assets/";

const contentTypes: ReadonlyMap<string, string> = new Map([
  [".css", "text/css; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".png", "image/png"],
  [".ttf", "font/ttf"],
]);

async function sendFile(response: ServerResponse, folder: string, name: string): Promise<void> {
  const type = contentTypes.get(extname(name));
  // The build puts all files into one folder, so a name never needs to climb.
  if (type === undefined || !/^[\w.-]+$/.test(name)) {
    response.writeHead(404).end();
    return;
  }
  try {
    const content = await readFile(join(folder, name));
    response.writeHead(200, { "Content-Type": type }).end(content);
  } catch {
    response.writeHead(404).end();
  }
}

function sendPage(response: ServerResponse): void {
  const nonce = randomBytes(16).toString("base64url");
  const base = assets.slice(0, -1);
  response.writeHead(200, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "frame-ancestors 'none'",
  });
  response.end(page({ host: "browser", base, source: "'self'", connect: "'self'", nonce }));
}

function refuse(response: ServerResponse, reason: string): void {
  response.writeHead(403, { "Content-Type": "text/plain; charset=utf-8" }).end(`${reason}\n`);
}

function channelOver(webSocket: WebSocket): Channel {
  const channel = openChannel((message) => webSocket.send(JSON.stringify(message)));
  webSocket.on("message", (data: RawData, isBinary: boolean) => {
    const message = isBinary ? undefined : parse(data);
    if (message === undefined) webSocket.close(1007, "not JSON");
    else channel.receive(message);
  });
  webSocket.on("close", () => channel.connection.dispose());
  // ws closes the socket after an error, such as a message above the limit.
  webSocket.on("error", () => {});
  return channel;
}

function parse(data: RawData): unknown {
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined;
  }
}

/** The path and the query of a request. Its target may be anything, also what is no URL, such as `//[`. */
function urlOf({ url = "/" }: IncomingMessage): URL {
  return new URL(`http://127.0.0.1${url.startsWith("/") ? "" : "/"}${url}`);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
