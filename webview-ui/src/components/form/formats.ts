import * as l10n from "@vscode/l10n";
import { parseDate, parseDateTime } from "./dates.ts";

// The same expressions are in the sidecar's formats.go, and one table tests both
// (protocol/testdata/forms.json). They name every character that they mean, since \s and such are not
// the same in all engines.

/** What an address of e-mail may have besides ASCII (RFC 6531): no spaces, and nothing unseen. */
const printable =
  "\\u{a1}-\\u{167f}\\u{1681}-\\u{1fff}\\u{2010}-\\u{2027}\\u{2030}-\\u{205e}\\u{2070}-\\u{2fff}\\u{3001}-\\u{fefe}\\u{ff00}-\\u{fffc}\\u{10000}-\\u{10ffff}";
const atom = `[A-Za-z0-9!#$%&'*+\\/=?^_\`\\{\\|\\}~${printable}\\-]+`;
// One end and then the rest, so that no text is read twice over.
const label = `[A-Za-z0-9${printable}]+(?:-+[A-Za-z0-9${printable}]+)*`;
const quoted = '"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"';
const email = new RegExp(
  `^(?:${atom}(?:\\.${atom})*|${quoted})@(?:${label}(?:\\.${label})*|\\[[0-9A-Fa-f:.IPv]+\\])$`,
  "u",
);

/** RFC 3986, its parts not told apart; brackets belong to the host alone. */
const uri =
  /^[A-Za-z][A-Za-z0-9+.-]*:(?:\/\/(?:[A-Za-z0-9._~!$&'()*+,;=:%-]*@)?\[[0-9A-Fa-fv:.]+\])?(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*(?:#(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?$/;

/** Says what is wrong with the form of a text. */
export function wrongFormat(format: string | undefined, input: string): string | undefined {
  switch (format) {
    case "email":
      return email.test(input)
        ? undefined
        : l10n.t("Not an email address, such as name@example.com");
    case "uri":
      return uri.test(input)
        ? undefined
        : l10n.t(
            "Not a full address, such as https://example.com/page; a space in it is written %20",
          );
    case "date":
      return parseDate(input) ? undefined : l10n.t("Not a date, such as 2026-11-21");
    case "date-time":
      return parseDateTime(input)
        ? undefined
        : l10n.t("Not a date and time, such as 2026-11-21T14:30:00Z");
    default: // another is one of a server's own making, and any text will do
      return undefined;
  }
}
