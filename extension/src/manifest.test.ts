import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

interface Setting {
  readonly scope?: string;
  readonly description?: string;
  readonly markdownDescription?: string;
}

interface Manifest {
  readonly capabilities: { readonly untrustedWorkspaces: { readonly supported: unknown } };
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly keybindings: readonly { readonly command: string }[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string }[]>>;
    readonly chatParticipants: readonly { readonly id: string }[];
    readonly walkthroughs: readonly { readonly id: string; readonly steps: readonly Step[] }[];
    readonly configuration: { readonly properties: Readonly<Record<string, Setting>> };
  };
}

interface Step {
  readonly media: { readonly svg: string };
  readonly completionEvents: readonly string[];
}

const read = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), "utf8");
const text = read("package.json");
const manifest = JSON.parse(text) as Manifest;
const { commands, keybindings, menus, configuration, walkthroughs, chatParticipants } =
  manifest.contributes;
const declared = commands.map(({ command }) => command);
const settings = Object.entries(configuration.properties);

/** Names are the same in every language. */
const names = /^(Assent|Anthropic|Gemini|OpenRouter|Ollama|LM Studio|vLLM|\$\([\w-]+\))$/;

describe("the manifest", () => {
  test("has no text that cannot be translated, and no translation of nothing", () => {
    const used = new Set([...text.matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key));
    expect([...used]).toEqual(Object.keys(JSON.parse(read("package.nls.json")) as object));
    const shown = /"(?:title|description|markdownDescription|altText|label)": "([^"]*)"/g;
    const plain = [...text.matchAll(shown)].map(([, value]) => value ?? "");
    expect(plain.filter((value) => !/^%.*%$/.test(value) && !names.test(value))).toEqual([]);
  });

  test("declares just the commands that the code registers", () => {
    const code = read("src/extension.ts");
    const registered = [...code.matchAll(/\bcommand\("(\w+)"/g)].map(
      ([, name]) => `assent.${name}`,
    );
    expect(registered.toSorted()).toEqual(declared.toSorted());
  });

  test("has no menu, key or step for a command that there is not", () => {
    const known = [...declared, "assent.panel.focus", "workbench.action.openSettings"];
    const links = [...read("package.nls.json").matchAll(/\(command:([\w.]+)/g)].map(([, it]) => it);
    const used = [...keybindings, ...Object.values(menus).flat()].map(({ command }) => command);
    expect(
      [...used, ...links].filter((name) => name === undefined || !known.includes(name)),
    ).toEqual([]);
  });

  test("leaves nothing to a workspace that starts programs, sends data or approves", () => {
    const open = settings.filter(([, { scope }]) => scope !== "machine").map(([name]) => name);
    expect(open).toEqual(["assent.sampling.diagram"]);
    expect(manifest.capabilities.untrustedWorkspaces.supported).toBe("limited");
  });

  test("describes every setting", () => {
    const mute = settings.filter(
      ([, it]) => (it.description ?? it.markdownDescription) === undefined,
    );
    expect(mute).toEqual([]);
  });

  test("has a picture for each step of the walkthrough, and a way to finish it", () => {
    const contexts = read("src/contexts.ts");
    for (const { media, completionEvents } of walkthroughs.flatMap(({ steps }) => steps)) {
      expect(read(media.svg)).toMatch(/^<svg /);
      expect(completionEvents).not.toEqual([]);
      for (const event of completionEvents) {
        const [kind, what = ""] = event.split(":");
        if (kind === "onContext") {
          for (const key of what.split(" && ")) expect(contexts).toContain(`"${key}"`);
        } else if (kind === "onCommand") expect(declared).toContain(what);
        else if (kind === "onSettingChanged")
          expect(configuration.properties).toHaveProperty([what]);
        else expect.fail(`no event ${event}`);
      }
    }
    expect(read("src/extension.ts")).toContain(`#${walkthroughs[0]?.id}\``);
  });

  test("names the chat participant as the code does", () => {
    const [participant] = chatParticipants;
    expect(read("src/chatParticipant.ts")).toContain(`participantId = "${participant?.id}"`);
  });

  test("names in its conditions no context that nobody sets", () => {
    const contexts = read("src/contexts.ts") + read("src/view.ts");
    const conditions = [...text.matchAll(/"(?:when|enablement)": "([^"]*)"/g)].map(
      ([, it]) => it ?? "",
    );
    const keys = new Set(conditions.flatMap((it) => it.match(/assent\.\w+/g) ?? []));
    for (const key of keys) expect(contexts).toContain(`"${key}"`);
  });
});
