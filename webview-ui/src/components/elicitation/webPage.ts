import * as l10n from "@vscode/l10n";
import punycode from "punycode/punycode.js";
import { getDomain } from "tldts";
import { visible } from "../../lib/visible.ts";

/** A page that may be opened, as it is shown: its whole URL in three pieces, and what to beware of. */
export interface WebPage {
  /** The URL as it is opened: its host in ASCII and the rest escaped, so that nothing in it hides. */
  readonly href: string;
  readonly before: string;
  /** Whose page it is: the domain that somebody registered; a host that has none, whole. */
  readonly domain: string;
  readonly after: string;
  readonly warnings: readonly PageWarning[];
}

export interface PageWarning {
  readonly kind: PageWarningKind;
  /** For the person. */
  readonly words: string;
}

export type PageWarningKind =
  | "plainHttp"
  | "mixedScripts"
  | "lookAlike"
  | "punycode"
  | "address"
  | "privateHost"
  | "port"
  | "hidden"
  | "long";

/** A page that is not opened at all, and why. */
export interface RefusedPage {
  readonly refused: string;
}

const names = {
  // Who has a name below github.io is not GitHub: such suffixes count as well.
  allowPrivateDomains: true,
  // A browser goes to names that break the rules, so their domain has to be found too.
  validateHostname: false,
};

/**
 * Reads a URL that a stranger wants opened. It looks at the text alone: nothing is fetched, and no
 * name is looked up.
 */
export function webPage(text: string): WebPage | RefusedPage {
  if (!URL.canParse(text)) return { refused: l10n.t("Assent cannot open this: it is not a URL.") };
  const url = new URL(text);
  const { protocol, username, password, hostname, href } = url;
  if (protocol !== "https:" && protocol !== "http:") {
    return {
      refused: l10n.t("Assent opens only http and https URLs. This one begins with {0}.", protocol),
    };
  }
  if (username !== "" || password !== "") {
    return {
      refused: l10n.t(
        "Assent does not open a URL that contains a user name: the text before the @ can look like the site.",
      ),
    };
  }
  const domain = getDomain(hostname, names) ?? hostname;
  const start = `${protocol}//`.length + hostname.lastIndexOf(domain);
  return {
    href,
    before: href.slice(0, start),
    domain,
    after: href.slice(start + domain.length),
    warnings: warningsOf(url),
  };
}

/** Browsers and servers do with as much; what is longer has something to carry, or to hide. */
const longest = 2_000;

function warningsOf({ protocol, hostname, port, href }: URL): readonly PageWarning[] {
  const host = hostname.replace(/\.$/, "");
  const name = nameWarning(host);
  const place = placeOf(host);
  const warnings: PageWarning[] = name === undefined ? [] : [name];
  // What stays on this computer, nobody on the way can read.
  if (protocol === "http:" && place !== "computer") {
    warnings.push({
      kind: "plainHttp",
      words: l10n.t(
        "The connection is not encrypted. Others on the network can read and change what you send.",
      ),
    });
  }
  // Whose this computer is, is no question.
  if (isAddress(host) && place !== "computer") {
    warnings.push({
      kind: "address",
      words: l10n.t(
        "The site is an IP address instead of a name, so you cannot tell who owns it.",
      ),
    });
  }
  if (place !== "web") {
    warnings.push({
      kind: "privateHost",
      words:
        place === "computer"
          ? l10n.t("The page is on this computer, not on the web.")
          : l10n.t("The page is in your own network, not on the web."),
    });
  }
  if (port !== "") {
    warnings.push({
      kind: "port",
      words: l10n.t("The site is at port {0}, which is unusual.", port),
    });
  }
  if (hidesSomething(href)) {
    warnings.push({
      kind: "hidden",
      words: l10n.t(
        "The URL contains invisible characters or line breaks, written here with %.",
      ),
    });
  }
  if (href.length > longest) {
    warnings.push({
      kind: "long",
      words: l10n.t(
        "The URL has {0} characters; scroll to see all of it.",
        href.length.toLocaleString(),
      ),
    });
  }
  return warnings;
}

/** Says whether what is spelled with % would not be seen, or not in its place, if it were not. */
function hidesSomething(href: string): boolean {
  return (href.match(/(?:%[0-9a-f]{2})+/gi) ?? []).some((escaped) => {
    try {
      const text = decodeURIComponent(escaped);
      return /[\t\r\n]/.test(text) || visible(text) !== text;
    } catch {
      return false; // Not UTF-8, so no text.
    }
  });
}

/** Letters beyond a to z are spelled in Punycode; the worst that can be said of them is said. */
function nameWarning(host: string): PageWarning | undefined {
  if (!host.split(".").some((label) => label.startsWith("xn--"))) return undefined;
  const shown = unicode(host);
  const labels = shown.split(".");
  if (labels.some(mixesScripts)) {
    return {
      kind: "mixedScripts",
      words: l10n.t(
        "The name mixes alphabets, as fake names do. It looks like “{0}” but is {1}.",
        shown,
        host,
      ),
    };
  }
  if (labels.some(looksLatin)) {
    return {
      kind: "lookAlike",
      words: l10n.t(
        "The name only looks Latin: each letter is from another alphabet. It looks like “{0}” but is {1}.",
        shown,
        host,
      ),
    };
  }
  return {
    kind: "punycode",
    words: l10n.t(
      "The name has letters other than a to z, and can imitate another name. It looks like “{0}” but is {1}.",
      shown,
      host,
    ),
  };
}

function unicode(host: string): string {
  try {
    return punycode.toUnicode(host);
  } catch {
    return host; // What cannot be decoded is shown as it is spelled.
  }
}

const scripts = [
  ["Latin", /\p{Script=Latin}/u],
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Greek", /\p{Script=Greek}/u],
  ["Armenian", /\p{Script=Armenian}/u],
  ["Cherokee", /\p{Script=Cherokee}/u],
  ["Han", /\p{Script=Han}/u],
  ["Hiragana", /\p{Script=Hiragana}/u],
  ["Katakana", /\p{Script=Katakana}/u],
  ["Hangul", /\p{Script=Hangul}/u],
  ["Bopomofo", /\p{Script=Bopomofo}/u],
] as const;

const otherScript = new RegExp(
  `[^\\p{Script=Common}\\p{Script=Inherited}${scripts.map(([name]) => `\\p{Script=${name}}`).join("")}]`,
  "u",
);

/** The alphabets that a language writes together (Unicode TS 39, "Highly Restrictive"). */
const together: readonly ReadonlySet<string>[] = [
  new Set(["Latin", "Han", "Hiragana", "Katakana"]),
  new Set(["Latin", "Han", "Hangul"]),
  new Set(["Latin", "Han", "Bopomofo"]),
];

function mixesScripts(label: string): boolean {
  const used: string[] = scripts.filter(([, letter]) => letter.test(label)).map(([name]) => name);
  if (otherScript.test(label)) used.push("another");
  return used.length > 1 && !together.some((group) => used.every((name) => group.has(name)));
}

// Small Cyrillic, Greek and Armenian letters that many fonts draw as Latin ones.
const latinTwins = /^[\d\-асԁеһіјӏорԛѕԝхуѵҽοανρυιωցհոսօ]+$/u;

function looksLatin(label: string): boolean {
  return /[^\d-]/u.test(label) && latinTwins.test(label);
}

function isAddress(host: string): boolean {
  return host.startsWith("[") || ipv4(host) !== undefined;
}

/** Where a host is, as far as its name says. */
function placeOf(host: string): "computer" | "network" | "web" {
  if (host === "localhost" || host.endsWith(".localhost")) return "computer";
  const address = ipv4(host) ?? mappedIpv4(host);
  if (address !== undefined) return placeOfIpv4(address);
  if (host === "[::1]" || host === "[::]") return "computer";
  // Unique local addresses, and those of one link or, as it was once, of one site.
  if (/^\[(?:f[cd][0-9a-f]{2}|fe[89a-f][0-9a-f]):/.test(host)) return "network";
  if (host.startsWith("[")) return "web";
  const names = [".local", ".localdomain", ".internal", ".intranet", ".private"];
  names.push(".home.arpa", ".home", ".lan", ".corp");
  return !host.includes(".") || names.some((name) => host.endsWith(name)) ? "network" : "web";
}

function placeOfIpv4([a = 0, b = 0]: readonly number[]): "computer" | "network" | "web" {
  if (a === 127 || a === 0) return "computer";
  const isPrivate =
    a === 10 ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && b === 168) ||
    (a === 169 && b === 254) ||
    (a === 100 && b >= 64 && b < 128);
  return isPrivate ? "network" : "web";
}

/** A URL's host has its IPv4 addresses in four decimal numbers, however they were written. */
function ipv4(host: string): readonly number[] | undefined {
  return /^\d+\.\d+\.\d+\.\d+$/.test(host) ? host.split(".").map(Number) : undefined;
}

/** An IPv4 address inside of one of IPv6: mapped, compatible as it was once, or translated. */
function mappedIpv4(host: string): readonly number[] | undefined {
  const [, high, low] = /^\[(?:::ffff:|64:ff9b::|::)([0-9a-f]+):([0-9a-f]+)\]$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return undefined;
  return [high, low].map((part) => Number.parseInt(part, 16)).flatMap((n) => [n >> 8, n & 255]);
}
