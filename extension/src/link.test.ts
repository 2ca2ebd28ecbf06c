import { describe, expect, test } from "vitest";
import { LinkError, parseLink, previewOfLink } from "./link.ts";

const install = (server: unknown): ReturnType<typeof parseLink> =>
  parseLink("/mcp/install", typeof server === "string" ? server : JSON.stringify(server));

const weather = { name: "weather", command: "npx", args: ["-y", "@example/weather"] };

describe("a link", () => {
  test("leads to a task, or to the inbox", () => {
    const taskId = "0199-abc_D";
    expect(parseLink(`/task/${taskId}`, "")).toEqual({ kind: "task", taskId });
    expect(parseLink("/inbox", "")).toEqual({ kind: "inbox" });
  });

  test("brings a server in the shape of VS Code's own links", () => {
    expect(install(weather)).toEqual({
      kind: "install",
      server: {
        name: "weather",
        entry: { command: "npx", args: ["-y", "@example/weather"] },
        inputs: [],
      },
    });
  });

  test("has its server ask for values under names of its own", () => {
    const link = install({
      ...weather,
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of mcp.json's.
      env: { KEY: "${input:key}", MIXED: "a ${input:key} b", N: 1, GONE: null },
      inputs: [{ id: "key", type: "promptString", description: "The key", password: true }],
    });
    expect(link).toMatchObject({
      server: {
        entry: {
          env: {
            KEY: "${input:weather: key}",
            MIXED: "a ${input:weather: key} b",
            N: 1,
            GONE: null,
          },
        },
        inputs: [
          { id: "weather: key", type: "promptString", description: "The key", password: true },
        ],
      },
    });
    // Otherwise a link could name the input of another server, and get the value typed for that one.
    expect(() => install({ ...weather, env: { KEY: "${input:github-token}" } })).toThrow(
      /asks for the input github-token, which it does not define/,
    );
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: until here.
  });
});

test.for<[name: string, path: string, query: string | object, why: RegExp]>([
  ["to nowhere", "/", "", /Unknown link/],
  ["to a path outside", "/task/../../etc", "", /Unknown link/],
  ["with markup for an id", "/task/<b>", "", /Unknown link/],
  ["with lines in its path", "/a\n\u2028b", "", /link: \/a b$/],
  ["with a command of Assent's", "/assent.signOut", "", /Unknown link/],
  ["without JSON", "/mcp/install", "npx", /not a JSON object/],
  ["with a list", "/mcp/install", "[]", /not a JSON object/],
  ["that is too long", "/mcp/install", JSON.stringify("x".repeat(20_000)), /too long/],
  ["without a name", "/mcp/install", { command: "x" }, /name/],
  ["with a name that hides", "/mcp/install", { ...weather, name: "we\u202eather" }, /visible/],
  ["with a name of lines", "/mcp/install", { ...weather, name: "a\nb" }, /visible/],
  ["with a name like a variable", "/mcp/install", { ...weather, name: "a}b" }, /visible/],
  ["with a name of JavaScript's", "/mcp/install", { ...weather, name: "__proto__" }, /visible/],
  ["without a command", "/mcp/install", { name: "a" }, /either a command or a url/],
  ["with both", "/mcp/install", { ...weather, url: "https://a.example" }, /either a command or/],
  ["with a file", "/mcp/install", { name: "a", url: "file:///etc/passwd" }, /begins with http/],
  ["with a file of variables", "/mcp/install", { ...weather, envFile: "~/.env" }, /has envFile/],
  ["with a folder", "/mcp/install", { ...weather, cwd: "/" }, /has cwd/],
  ["with oauth", "/mcp/install", { name: "a", url: "https://a", oauth: {} }, /has oauth/],
  ["with arguments that are none", "/mcp/install", { ...weather, args: "-y" }, /args of weather/],
  ["with too many", "/mcp/install", { ...weather, args: Array(200).fill("x") }, /args of weather/],
  ["with an odd type", "/mcp/install", { ...weather, type: "docker" }, /type of weather/],
  ["with nested env", "/mcp/install", { ...weather, env: { A: {} } }, /env of weather/],
  ["with an odd input", "/mcp/install", { ...weather, inputs: [{ id: "a}" }] }, /id of inputs/],
  [
    "with inputs of one id",
    "/mcp/install",
    { ...weather, inputs: Array(2).fill({ id: "a", type: "promptString" }) },
    /same id/,
  ],
  [
    "with an input that runs a command",
    "/mcp/install",
    { ...weather, inputs: [{ id: "a", type: "command" }] },
    /type of inputs/,
  ],
])("a link %s is refused with words", ([, path, query, why]) => {
  const text = typeof query === "string" ? query : JSON.stringify(query);
  const follow = () => parseLink(path, text);
  expect(follow).toThrow(LinkError);
  expect(follow).toThrow(why);
});

test("the preview shows all that a link adds, and the environment that it gets", () => {
  const link = install({
    ...weather,
    args: ["--name", "a\u202eb\nc\u{e0041}"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of mcp.json's.
    env: { TOKEN: "${env:GITHUB_TOKEN}" },
  });
  if (link.kind !== "install") throw new Error("it is a server's");
  const preview = previewOfLink(link.server);
  expect(preview).toContain("can do everything that");
  expect(preview).toContain("The server gets ");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of mcp.json's.
  expect(preview).toContain('"TOKEN": "${env:GITHUB_TOKEN}"');
  expect(preview).toContain('"a\\u202eb\\nc\\udb40\\udc41"');
  const json = preview.slice(preview.indexOf("\n{"));
  expect(JSON.parse(json)).toEqual({ "assent.servers": { weather: link.server.entry } });
});
