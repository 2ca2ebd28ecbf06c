import * as l10n from "@vscode/l10n";
import punycode from "punycode/punycode.js";
import { getDomain } from "tldts";
import { visible } from "../../lib/visible.ts";

/** A page that may be opened, as it is shown: its whole URL in three parts, and warnings. */
export interface WebPage {
  /** The URL to open, with its host in ASCII and the rest escaped, so that no part can hide. */
  readonly href: string;
  readonly before: string;
  /** The registered domain, which names the owner; the whole host if it has none. */
  readonly domain: string;
  readonly after: string;
  readonly warnings: readonly PageWarning[];
}

export interface PageWarning {
  readonly kind: PageWarningKind;
  /** Warnings for the person. */
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

/** A page that is not opened, with the reason. */
export interface RefusedPage {
  readonly refused: string;
}

const names = {
  // The owner of a name below github.io is not GitHub, so such suffixes count as well.
  allowPrivateDomains: true,
  // Browsers accept hosts that break the rules, so their domain must be found too.
  validateHostname: false,
};

/**
 * Parses a URL that a server wants to open. It examines only the text: it fetches nothing and resolves no names.
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

/** The longest URL, about as long as browsers and servers accept. Longer ones may hide or smuggle data. */
const longest = 2_000;

function warningsOf({ protocol, hostname, port, href }: URL): readonly PageWarning[] {
  const host = hostname.replace(/\.$/, "");
  const name = nameWarning(host);
  const place = placeOf(host);
  const warnings: PageWarning[] = name === undefined ? [] : [name];
  // Data to this computer does not cross the network.
  if (protocol === "http:" && place !== "computer") {
    warnings.push({
      kind: "plainHttp",
      words: l10n.t(
        "The connection is not encrypted. Others on the network can read and change what you send.",
      ),
    });
  }
  // The owner of this computer is known.
  if (isAddress(host) && place !== "computer") {
    warnings.push({
      kind: "address",
      words: l10n.t("The site is an IP address instead of a name, so you cannot tell who owns it."),
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
      words: l10n.t("The URL contains invisible characters or line breaks, written here with %."),
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

/** Reports whether the escaped characters would be invisible or out of place if they were unescaped. */
function hidesSomething(href: string): boolean {
  return (href.match(/(?:%[0-9a-f]{2})+/gi) ?? []).some((escaped) => {
    try {
      const text = decodeURIComponent(escaped);
      return /[\t\r\n]/.test(text) || visible(text) !== text;
    } catch {
      return false; // not UTF-8, so not text
    }
  });
}

/** Hosts with letters other than a to z are in Punycode. Returns the strongest warning that applies. */
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
    return host; // a host that cannot be decoded is shown encoded
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

/** Scripts that languages write together (Unicode TS 39, "Highly Restrictive"). */
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

/** Where a host is, according to its name. */
function placeOf(host: string): "computer" | "network" | "web" {
  if (host === "localhost" || host.endsWith(".localhost")) return "computer";
  const address = ipv4(host) ?? mappedIpv4(host);
  if (address !== undefined) return placeOfIpv4(address);
  if (host === "[::1]" || host === "[::]") return "computer";
  // Unique local, link-local and the former site-local addresses.
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

/** The URL parser writes IPv4 addresses as four decimal numbers. */
function ipv4(host: string): readonly number[] | undefined {
  return /^\d+\.\d+\.\d+\.\d+$/.test(host) ? host.split(".").map(Number) : undefined;
}

/** Returns the IPv4 address within an IPv6 address: mapped, translated, or in the former compatible form. */
function mappedIpv4(host: string): readonly number[] | undefined {
  const [, high, low] = /^\[(?:::ffff:|64:ff9b::|::)([0-9a-f]+):([0-9a-f]+)\]$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return undefined;
  return [high, low].map((part) => Number.parseInt(part, 16)).flatMap((n) => [n >> 8, n & 255]);
}
