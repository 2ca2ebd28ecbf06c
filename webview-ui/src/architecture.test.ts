import { expect, test } from "vitest";

// Which folder may import from which. ARCHITECTURE.md says what each is for. A folder stands below those that list it,
// so that no two folders can import each other, not by way of others either.
const allowed: Readonly<Record<string, readonly string[]>> = {
  // What belongs to no domain: texts as they are shown, exact numbers, translations.
  lib: [],
  timeline: ["lib"],
  view: [],
  link: ["view"],
  store: ["lib", "link", "timeline", "view"],
  ui: ["lib", "view"],
  form: ["lib", "link", "ui", "view"],
  content: ["lib", "timeline", "ui", "view"],
  flow: ["lib", "store", "ui"],
  ask: ["content", "lib", "link", "store", "timeline", "ui", "view"],
  grants: ["form", "lib", "link", "store", "ui", "view"],
  elicitation: ["ask", "form", "lib", "timeline", "ui", "view"],
  sampling: [
    ...["ask", "content", "flow", "form", "grants"],
    ...["lib", "store", "timeline", "ui", "view"],
  ],
  policy: ["grants", "lib", "link", "store", "ui", "view"],
  call: ["ask", "content", "form", "lib", "ui", "view"],
  mcpApps: ["ask", "elicitation", "form", "lib", "link", "store", "ui", "view"],
  tasks: ["lib", "link", "store", "ui"],
  conversation: [
    ...["ask", "call", "content", "elicitation", "grants", "mcpApps", "sampling", "tasks"],
    ...["lib", "link", "store", "timeline", "ui", "view"],
  ],
  dock: [
    ...["ask", "call", "conversation", "elicitation", "flow", "form", "mcpApps", "sampling"],
    ...["lib", "store", "ui", "view"],
  ],
  composer: ["content", "lib", "link", "store", "ui", "view"],
  inbox: ["ask", "elicitation", "form", "lib", "store", "ui", "view"],
  mcpTasks: ["call", "lib", "store", "ui"],
  servers: ["content", "lib", "policy", "store", "ui"],
  setup: ["lib", "link", "store", "ui"],
  tools: ["content", "form", "servers", "lib", "link", "store", "ui", "view"],
  app: [
    ...["ask", "composer", "conversation", "dock", "inbox", "mcpTasks", "policy", "servers"],
    ...["setup", "tasks", "tools", "form", "lib", "store", "ui", "view"],
  ],
  // The entry, which puts everything together.
  "": ["app", "lib", "link", "store", "view"],
};

const sources = import.meta.glob<string>(["./**/*.{ts,tsx}", "!./**/*.test.*", "!./testing/**"], {
  query: "?raw",
  import: "default",
  eager: true,
});

/** Returns a file's folder, without the folder of all components. */
function folderOf(path: string): string {
  return path
    .split("/")
    .slice(1, -1)
    .join("/")
    .replace(/^components\//, "");
}

/** Returns the files that a file imports, types too. Only those of the webview have a path. */
function importsOf(path: string, source: string): readonly string[] {
  const all = source.matchAll(/(?:from|import|import\() ?"(\.[^"]+)"/g);
  const folder = new URL(path, "file:///root/");
  return [...all].map(([, to = ""]) => new URL(to, folder).pathname.replace(/^\/root\//, "./"));
}

test("folders import only allowed folders", () => {
  const wrong = Object.entries(sources).flatMap(([path, source]) => {
    const from = folderOf(path);
    return importsOf(path, source)
      .map((to) => [folderOf(to), to] as const)
      .filter(([to]) => to !== from && to !== "styles" && !allowed[from]?.includes(to))
      .map(([, to]) => `${path} imports ${to}`);
  });
  expect(wrong).toEqual([]);
});

test("every folder is in the table, and no folders import each other in a circle", () => {
  const folders = new Set(Object.keys(sources).map(folderOf));
  expect([...folders].sort()).toEqual(Object.keys(allowed).sort());
  const depths = new Map<string, number>();
  const depthOf = (folder: string, above: readonly string[]): number => {
    if (above.includes(folder)) throw new Error(`a circle: ${[...above, folder].join(" > ")}`);
    const known = depths.get(folder);
    if (known !== undefined) return known;
    const below = allowed[folder] ?? [];
    const depth = 1 + Math.max(0, ...below.map((name) => depthOf(name, [...above, folder])));
    depths.set(folder, depth);
    return depth;
  };
  for (const folder of folders) depthOf(folder, []);
});
