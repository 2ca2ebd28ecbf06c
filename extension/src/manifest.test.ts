import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

interface Setting {
  readonly scope?: string;
  readonly description?: string;
  readonly markdownDescription?: string;
}

interface SettingsGroup {
  readonly title: string;
  readonly properties: Readonly<Record<string, Setting & { readonly order?: number }>>;
}

interface Manifest {
  readonly capabilities: {
    readonly untrustedWorkspaces: {
      readonly supported: unknown;
      readonly restrictedConfigurations: readonly string[];
    };
  };
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly keybindings: readonly { readonly command: string; readonly key: string }[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string }[]>>;
    readonly chatParticipants: readonly { readonly id: string }[];
    readonly mcpServerDefinitionProviders: readonly { readonly id: string }[];
    readonly walkthroughs: readonly { readonly id: string; readonly steps: readonly Step[] }[];
    readonly configuration: readonly SettingsGroup[];
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
const settings = configuration.flatMap(({ properties }) => Object.entries(properties));
const texts = JSON.parse(read("package.nls.json")) as Readonly<Record<string, string>>;

/**
 * The scope of each setting, by the harm that it could do. In a remote window VS Code shows settings of the person
 * under User, settings of the machine under Remote, and both of the others under Workspace too.
 */
const scopes: Readonly<Record<string, readonly [scope: string, why: string]>> = {
  "assent.servers": ["machine", "starts programs, without the question that mcp.json leads to"],
  "assent.inputs": ["machine", "goes with assent.servers"],
  "assent.server.timeouts": ["machine-overridable", "keeps processes, and calls that hang"],
  "assent.model.provider": ["application", "decides who gets the prompts"],
  "assent.model.endpoints": ["application", "says where keys and prompts are sent"],
  "assent.model.allowed": ["application", "forbids models to servers"],
  "assent.tools.autoApprove": ["application", "approves calls"],
  "assent.sampling.review": ["application", "returns answers that nobody saw"],
  "assent.elicitation.answers": ["application", "answers in the person's name"],
  "assent.limits": ["application", "bounds what servers ask, and ends questions early"],
  "assent.chat.systemPrompt": ["window", "steers the model: of trusted workspaces only"],
  "assent.chat.limits": ["window", "costs tokens: of trusted workspaces only"],
  "assent.retention.days": ["application", "deletes results and records of what was decided"],
  "assent.log.level": ["window", "only changes how much is logged, without secrets"],
  "assent.standalone": ["machine", "ends what is open with the window"],
};

/** Names that are the same in every language. */
const names = /^(Assent|VS Code|Anthropic|Gemini|OpenRouter|Ollama|LM Studio|vLLM|\$\([\w-]+\))$/;

describe("the manifest", () => {
  test("has no text that cannot be translated, and no translation of nothing", () => {
    const used = new Set([...text.matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key));
    expect([...used]).toEqual(Object.keys(JSON.parse(read("package.nls.json")) as object));
    const shown = /"(?:title|description|markdownDescription|altText|label)": "([^"]*)"/g;
    const plain = [...text.matchAll(shown)].map(([, value]) => value ?? "");
    expect(plain.filter((value) => !/^%.*%$/.test(value) && !names.test(value))).toEqual([]);
  });

  test("declares just the commands that the code registers", () => {
    const [, code = ""] = read("src/session.ts").split("): Commands {");
    const registered = [...(code.split("};")[0] ?? "").matchAll(/^ {6}(\w+)[:,]/gm)].map(
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

  test("has in the title of the view one icon, and what the head of the panel does not have", () => {
    const title = menus["view/title"]?.map(({ command }) => command) ?? [];
    expect(new Set(title).size).toBe(title.length);
    const inHead = ["assent.showOpenAsks", "assent.showServers"];
    expect(title.filter((command) => inHead.includes(command ?? ""))).toEqual([]);
    // In VS Code the head has no New Task of its own.
    expect(
      text.match(/"assent.newTask",\s+"when": "view == assent.panel",\s+"group": "nav/g),
    ).toHaveLength(1);
    expect(text.match(/"view == assent.panel",\s+"group": "navigation/g)).toHaveLength(1);
  });

  test("leaves nothing to a workspace that starts programs, sends data or approves", () => {
    const declared = settings.map(([name, { scope }]) => [name, scope]);
    expect(Object.fromEntries(declared)).toEqual(
      Object.fromEntries(Object.entries(scopes).map(([name, [scope]]) => [name, scope])),
    );
    const { supported, restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
    expect(supported).toBe("limited");
    // An untrusted workspace may set only what changes the display.
    const harmless = ["assent.log.level"];
    const ofWorkspaces = settings
      .filter(([, { scope }]) => scope === "window" || scope === "machine-overridable")
      .map(([name]) => name)
      .filter((name) => !harmless.includes(name));
    expect(restrictedConfigurations).toEqual(ofWorkspaces);
  });

  test("has no more than 15 settings and 16 commands", () => {
    expect(settings.length).toBeLessThanOrEqual(15);
    expect(commands.length).toBeLessThanOrEqual(16);
  });

  test("has its settings in groups, in an order, with links that lead somewhere", () => {
    expect(configuration.map(({ title }) => texts[title.replaceAll("%", "")])).toEqual([
      "Servers",
      "Models",
      "Questions",
      "Chat",
      "Storage",
      "Advanced",
    ]);
    for (const { properties } of configuration) {
      const orders = Object.values(properties).map(({ order }) => order);
      expect(orders).toEqual(orders.map((_, at) => at + 1));
    }
    const names = settings.map(([name]) => name);
    const linked = Object.values(texts).flatMap((text) => [
      ...text.matchAll(/#(assent\.[\w.]+)#/g),
    ]);
    expect(linked.map(([, name]) => name).filter((name) => !names.includes(name ?? ""))).toEqual(
      [],
    );
    // Descriptions link commands instead of naming them in bold, and links work in Markdown only.
    for (const [key, text] of Object.entries(texts)) {
      if (!key.startsWith("setting.")) continue;
      expect(text).not.toContain("**Assent:");
      const [name, it] =
        settings.find(([name]) => name === key.replace("setting.", "assent.")) ?? [];
      if (text.includes("](command:"))
        expect([name, it?.markdownDescription]).toEqual([name, `%${key}%`]);
    }
  });

  test("does not mention the sidecar, which is an implementation detail", () => {
    const shown = [
      ...Object.values(texts),
      ...Object.keys(JSON.parse(read("l10n/bundle.l10n.json"))),
    ];
    const plain = shown.map((text) => text.replaceAll(/\(command:[\w.]+/g, ""));
    expect(plain.filter((text) => /sidecar/i.test(text))).toEqual([]);
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
          expect(settings.map(([name]) => name)).toContain(what);
        else expect.fail(`no event ${event}`);
      }
    }
    expect(read("src/getStarted.ts")).toContain(`#${walkthroughs[0]?.id}\``);
  });

  test("has the key that the palette shows, a command's last, for the next question", () => {
    const { keybindings } = manifest.contributes;
    expect(keybindings.findLast(({ command }) => command === "assent.nextAsk")?.key).toBe("alt+f8");
  });

  test("names the chat participant as the code does", () => {
    const [participant] = chatParticipants;
    expect(read("src/chatParticipant.ts")).toContain(`participantId = "${participant?.id}"`);
  });

  test("names the provider of servers for VS Code's chat as the code does", () => {
    const [provider] = manifest.contributes.mcpServerDefinitionProviders;
    expect(read("src/chatServers.ts")).toContain(`providerId = "${provider?.id}"`);
  });

  test("uses only context keys that are set", () => {
    const contexts = read("src/contexts.ts") + read("src/view.ts");
    const conditions = [...text.matchAll(/"(?:when|enablement)": "([^"]*)"/g)].map(
      ([, it]) => it ?? "",
    );
    const keys = new Set(conditions.flatMap((it) => it.match(/assent\.\w+/g) ?? []));
    for (const key of keys) expect(contexts).toContain(`"${key}"`);
  });
});
