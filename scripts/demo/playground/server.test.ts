import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";

// What strangers may send to the playground: every web page that the person opens can, and every program on the machine.
// It is another process, so that its end is seen and not caught.

let child: ChildProcess;
let url: URL;
let problems = "";

beforeEach(async () => {
  problems = "";
  const program = join(import.meta.dirname, "testing", "serve.ts");
  child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "pipe"] });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    problems += text;
  });
  const exited = once(child, "exit");
  if (child.stdout === null) throw new Error("its output is no pipe");
  const line = once(createInterface(child.stdout), "line");
  const [first] = (await Promise.race([line, exited])) as [unknown];
  if (typeof first !== "string") throw new Error(`the playground did not start: ${problems}`);
  url = new URL(first);
});

afterEach(() => {
  child.kill("SIGKILL");
});

/** Opens a connection, and resolves to it once it stands. */
async function opened(): Promise<Socket> {
  const socket = connect({ port: Number(url.port), host: "127.0.0.1", allowHalfOpen: true });
  await once(socket, "connect");
  socket.on("error", () => {}); // the playground may end it at any time
  return socket;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

/** Sends bytes, reads on until the playground closes the connection, and resolves to what it said. */
async function exchange(bytes: string | Uint8Array): Promise<string> {
  const socket = await opened();
  let said = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    said += text;
  });
  socket.end(bytes);
  await closed(socket);
  return said;
}

/** Sends bytes and resets the connection, before or after they are read. */
async function reset(bytes: string | Uint8Array): Promise<void> {
  const socket = await opened();
  await new Promise((resolve) => socket.write(bytes, resolve));
  const end = closed(socket);
  socket.resetAndDestroy();
  await end;
}

const headers = (more: Readonly<Record<string, string>> = {}): string =>
  Object.entries({
    Host: url.host,
    Origin: url.origin,
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...more,
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");

const upgrade = (target: string, more: Readonly<Record<string, string>> = {}): string =>
  `GET ${target} HTTP/1.1\r\n${headers(more)}\r\n`;

const bridge = (): string => `/bridge${url.search}`;

/** Fails unless the playground still serves its page and its bridge. */
async function expectServing(): Promise<void> {
  expect(child.exitCode, problems).toBeNull();
  const page = await fetch(url);
  expect(page.status).toBe(200);
  await page.text();
  const socket = new WebSocket(`ws://${url.host}${bridge()}`, { origin: url.origin });
  await once(socket, "open");
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "echo", params: { a: 1 } }));
  const [answer] = (await once(socket, "message")) as [Buffer];
  expect(JSON.parse(String(answer))).toEqual({ jsonrpc: "2.0", id: 1, result: { a: 1 } });
  socket.close();
  await once(socket, "close");
  expect(problems).toBe("");
}

test("a target that is no URL is refused, in an upgrade and in a request", async () => {
  for (const target of ["//[", "//[::", "//a:99999/", "http://[", "//%", "//\x7f"]) {
    expect(await exchange(upgrade(target))).toMatch(/^HTTP\/1\.1 40[03] /);
    const request = `GET ${target} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n\r\n`;
    expect(await exchange(request)).toMatch(/^HTTP\/1\.1 40[034] /);
  }
  await expectServing();
});

test("a refused upgrade may be reset", async () => {
  const origin = { Origin: "https://evil.example" };
  for (let round = 0; round < 20; round++) {
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0 ? reset(upgrade("/", origin)) : reset(upgrade(bridge(), origin)),
      ),
    );
  }
  await expectServing();
});

test("an upgrade that was let in may be broken off and may send anything", async () => {
  const masked = (first: number, payload: Uint8Array): Uint8Array =>
    Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
  const frames: readonly Uint8Array[] = [
    Buffer.from([0x81, 0x05, 1, 2, 3, 4, 5]), // not masked
    Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), // too long
    masked(0x83, Buffer.from("x")), // an opcode that is reserved
    masked(0xf1, Buffer.from("x")), // bits that are reserved
    masked(0x81, Buffer.from([0xff, 0xfe])), // not UTF-8
    masked(0x82, Buffer.from("binary")),
    masked(0x81, Buffer.from("not JSON")),
    ...["null", "[]", "7", '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":{},"method":7}'].map(
      (text) => masked(0x81, Buffer.from(text)),
    ),
    masked(0x81, Buffer.from('{"jsonrpc":"2.0","id":"9","result":1}')),
    masked(0x81, Buffer.from('{"jsonrpc":"2.0","id":1,"method":"echo","params":3}')),
    masked(0x89, Buffer.alloc(125)), // a ping
    masked(0x88, Buffer.from([0x03])), // a close without a whole code
  ];
  for (const frame of frames) {
    const request = Buffer.concat([Buffer.from(upgrade(bridge())), frame]);
    await Promise.all([exchange(request), reset(request)]);
  }
  await expectServing();
});

test("requests with any bytes changed are survived", async () => {
  // xorshift32, so that a failure comes again.
  let state = 0x9e3779b9;
  const random = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const seeds = () => [
    upgrade(bridge()),
    upgrade("/bridge", { Origin: "null" }),
    upgrade(bridge(), { "Sec-WebSocket-Key": "short" }),
    upgrade(bridge(), { "Sec-WebSocket-Version": "99" }),
    upgrade(bridge(), { "Sec-WebSocket-Extensions": "permessage-deflate; =" }),
    upgrade(bridge(), { Upgrade: "h2c" }),
    `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`,
    `POST / HTTP/1.1\r\nHost: ${url.host}\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\nz\r\n`,
    `CONNECT [::1:443 HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /assets/%2e%2e%2f..\\x.png HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`,
  ];
  const mutated = (): Uint8Array => {
    const all = seeds();
    const bytes = Buffer.from(all[random(all.length)] ?? "");
    for (let n = random(4); n > 0; n--) bytes[random(bytes.length)] = random(256);
    return bytes.subarray(0, random(3) === 0 ? random(bytes.length) : bytes.length);
  };
  for (let round = 0; round < 20; round++) {
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? exchange(mutated()) : reset(mutated()))),
    );
  }
  await expectServing();
});

test("it stops while strangers hold their connections open", async () => {
  const silent = await opened();
  const refused = await opened();
  refused.write(upgrade("/bridge", { Origin: "https://evil.example" }));
  await once(refused, "data");
  const half = await opened();
  half.write("GET / HT");
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  for (const socket of [silent, refused, half]) socket.destroy();
});
