package form

import (
	"strconv"
	"time"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
)

// They list characters explicitly, because classes such as \s differ between engines.
var (
	// printable lists the characters besides ASCII that an e-mail address may have (RFC 6531): all
	// except spaces and invisible ones.
	printable = `\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{2010}-\x{2027}\x{2030}-\x{205e}\x{2070}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{fffc}\x{10000}-\x{10ffff}`
	atom      = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~" + printable + `-]+`
	label     = `[A-Za-z0-9` + printable + `](?:[A-Za-z0-9` + printable + `-]*[A-Za-z0-9` + printable + `])?`
	email     = lazyregexp.New(
		`^(?:` + atom + `(?:\.` + atom + `)*|"(?:[ !#-\[\]-~]|\\[ -~])*")@(?:` + label + `(?:\.` + label + `)*|\[[0-9A-Fa-f:.IPv]+\])$`)

	// uri is RFC 3986, without distinguishing its parts. Only the host may have brackets.
	uriChar = `(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})`
	uri     = lazyregexp.New(
		`^[A-Za-z][A-Za-z0-9+.-]*:(?://(?:[A-Za-z0-9._~!$&'()*+,;=:%-]*@)?\[[0-9A-Fa-fv:.]+\])?` + uriChar + `*(?:#` + uriChar + `*)?$`)

	date     = lazyregexp.New(`^([0-9]{4})-([0-9]{2})-([0-9]{2})$`)
	dateTime = lazyregexp.New(
		`^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))$`)
)

// wrongFormat returns the problem of a text's format, or "".
func wrongFormat(format protocol.StringFormat, s string) string {
	switch format {
	case protocol.FormatEmail:
		if !email().MatchString(s) {
			return "This must be an e-mail address, such as name@example.com."
		}
	case protocol.FormatURI:
		if !uri().MatchString(s) {
			return "This must be a full address, such as https://example.com/page; a space in it is written %20."
		}
	case protocol.FormatDate:
		if !isDate(s) {
			return "This must be a date, such as 2026-11-21."
		}
	case protocol.FormatDateTime:
		if !isDateTime(s) {
			return "This must be a date and time with its zone, such as 2026-11-21T14:30:00Z."
		}
	}
	return ""
}

// isDate reports whether a text is an existing day (RFC 3339, full-date).
func isDate(s string) bool {
	if !date().MatchString(s) {
		return false
	}
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// isDateTime reports whether a text is a date-time of RFC 3339. [time.Parse] accepts some invalid ones, and
// refuses leap seconds.
func isDateTime(s string) bool {
	m := dateTime().FindStringSubmatch(s)
	if m == nil || !isDate(m[1]) {
		return false
	}
	if m[4] != "60" {
		return true
	}
	// A leap second is the last second of a day in UTC.
	minute := atoi(m[2])*60 + atoi(m[3])
	offset := atoi(m[6])*60 + atoi(m[7])
	if m[5] == "+" {
		offset = -offset
	}
	return (minute+offset+2*24*60)%(24*60) == 24*60-1
}

// atoi converts digits that an expression has matched; "" is 0.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
