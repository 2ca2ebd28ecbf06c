import { beforeEach, expect, test, vi } from "vitest";
import { frameUrl, mapsFrames } from "./frameUrl.ts";

const { env } = vi.hoisted(() => ({
  env: { remoteName: undefined as string | undefined, asExternalUri: vi.fn() },
}));

vi.mock("vscode", () => ({ env, Uri: { parse: (text: string) => text } }));

beforeEach(() => {
  env.remoteName = undefined;
});

test("only a remote window maps the addresses of frames", () => {
  expect(mapsFrames()).toBe(false);
  env.remoteName = "ssh-remote";
  expect(mapsFrames()).toBe(true);
});

test.each([
  ["a forwarded port", "http://127.0.0.1:9", "http://127.0.0.1:9/frame/ID"],
  ["a forwarded port by its name", "http://localhost:9/", "http://localhost:9/frame/ID"],
  ["a proxy", "https://example.com/proxy/7/", "http://127.0.0.1:7/frame/ID"],
  ["a proxy on this machine", "http://127.0.0.1:8080/proxy/7/", "http://127.0.0.1:7/frame/ID"],
  ["another machine", "http://10.0.0.1:7/", "http://127.0.0.1:7/frame/ID"],
])("%s", async (_name, mapped, url) => {
  env.asExternalUri.mockResolvedValue({ toString: () => mapped });
  await expect(frameUrl({ url: "http://127.0.0.1:7/frame/ID" })).resolves.toEqual({ url });
  expect(env.asExternalUri).toHaveBeenLastCalledWith("http://127.0.0.1:7");
});
