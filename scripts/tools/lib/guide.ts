// The tables of commands and settings in docs/guide.md are those of the extension's manifest.
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { extensionFolder, root } from "./paths.ts";

const guide = join(root, "docs", "guide.md");

interface Setting {
  readonly default: unknown;
  readonly order?: number;
  readonly description?: string;
  readonly markdownDescription?: string;
}

interface SettingsGroup {
  readonly title: string;
  readonly properties: Readonly<Record<string, Setting>>;
}

interface Command {
  readonly command: string;
  readonly title: string;
}

interface Manifest {
  readonly contributes: {
    readonly commands: readonly Command[];
    readonly configuration: SettingsGroup | readonly SettingsGroup[];
  };
}

type Row = readonly string[];

/** What each command does. Its title is in the manifest. */
const whatCommandsDo: Readonly<Record<string, string>> = {
  "assent.newTask": "starts a task",
  "assent.askAbout": "puts the selection, or the file, into your message",
  "assent.runTool": "opens **Use a Server** in the panel",
  "assent.showOpenAsks": "lists the open questions of all tasks",
  "assent.nextAsk": "goes to the next open question; Shift+Alt+F8 goes to the previous one",
  "assent.showServers": "lists the servers; each has a page",
  "assent.showMcpTasks": "lists the long-running work of all servers",
  "assent.showAutomaticAnswers": "lists everything that answers in your name",
  "assent.showJournal":
    "shows the records of all, of a server or of a task, or writes them to a file",
  "assent.openConfiguration": "opens `.vscode/mcp.json`, and creates it if there is none",
  "assent.chooseModel":
    "offers VS Code's models, those on your machine, and settings; keeps API keys in the secret storage",
  "assent.forgetSecrets": "forgets every login, or the values that inputs asked for",
  "assent.setUpHosts": "has other programs use their servers through Assent, and undoes that",
  "assent.getStarted":
    "shows a question of the example server, copies the servers of another program, has other programs use Assent, and opens the walkthrough or this guide",
  "assent.showLog": "shows the backend's log and what servers write to stderr",
  "assent.restartSidecar": "starts the backend again",
};

/** Writes the tables into the guide. */
export async function writeGuideTables(): Promise<void> {
  const text = await readFile(guide, "utf8");
  const current = await withTables(text);
  if (current !== text) await writeFile(guide, current);
}

/** Fails if the tables differ from the manifest. */
export async function checkGuideTables(): Promise<void> {
  const text = await readFile(guide, "utf8");
  if ((await withTables(text)) === text) return;
  throw new Error(`${relative(root, guide)} is out of date: npm run format writes its tables`);
}

async function withTables(text: string): Promise<string> {
  const read = async <T>(name: string): Promise<T> =>
    JSON.parse(await readFile(join(extensionFolder, name), "utf8")) as T;
  const { contributes } = await read<Manifest>("package.json");
  const texts = await read<Readonly<Record<string, string>>>("package.nls.json");
  const groups = [contributes.configuration].flat();

  function inWords(key = ""): string {
    return key.replace(/^%(.*)%$/, (_, name: string) => texts[name] ?? key);
  }
  function commandRow({ command, title }: Command): Row {
    const what = whatCommandsDo[command];
    if (what === undefined)
      throw new Error(`scripts/tools/lib/guide.ts does not describe ${command}`);
    return [`**${inWords(title)}**`, what];
  }
  function settingsTable({ title, properties }: SettingsGroup, named: boolean): string {
    const rows = Object.entries(properties)
      .sort(([, a], [, b]) => (a.order ?? 0) - (b.order ?? 0))
      .map(([name, setting]): Row => {
        const text = inWords(setting.markdownDescription ?? setting.description);
        // In VS Code, `#NAME#` is a link to another setting, and a URL may be of a command. A cell has one line.
        const plain = text
          .replaceAll(/`#(.+?)#`/g, "`$1`")
          .replaceAll(/\[([^\]]+)\]\(command:[^)]*\)/g, "**Assent: $1**")
          .replaceAll("|", "\\|")
          .replaceAll("\n- ", "<br>• ");
        return [`\`${name}\``, `\`${JSON.stringify(setting.default)}\``, plain];
      });
    const heading = named ? `### ${inWords(title)}\n\n` : "";
    return heading + table(["setting", "default", "meaning"], rows);
  }

  const tables = {
    commands: table(["command", "what it does"], contributes.commands.map(commandRow)),
    settings: groups.map((group) => settingsTable(group, groups.length > 1)).join("\n\n"),
  };
  let changed = text;
  for (const [name, table] of Object.entries(tables)) {
    const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const [before, rest = ""] = changed.split(open);
    const [, after] = rest.split(close);
    if (after === undefined) throw new Error(`${guide} has no ${open} and ${close}`);
    changed = `${before}${open}\n\n${table}\n\n${close}${after}`;
  }
  return changed;
}

/** A table as the formatter leaves it. */
function table(heads: Row, rows: readonly Row[]): string {
  const widths = heads.map((_, at) =>
    Math.max(...[heads, ...rows].map((row) => [...(row[at] ?? "")].length)),
  );
  const line = (cells: Row): string =>
    `| ${cells.map((cell, at) => cell + " ".repeat((widths[at] ?? 0) - [...cell].length)).join(" | ")} |`;
  const rule = widths.map((width) => "-".repeat(width));
  return [heads, rule, ...rows].map(line).join("\n");
}
