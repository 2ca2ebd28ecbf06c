package secret

import (
	"net/url"
	"slices"
	"strings"

	"assent/sidecar/base/lazyregexp"
)

// RuleNamed is a value with the name of a secret. Its description is the name.
const RuleNamed = "named"

// InValue returns the secrets in a configured value: of a variable, a header, an argument or a URL. Name is the value's name,
// and may be empty. Beside what Scan finds, a value in a configuration is a secret if its name says so, be it the name of
// the value or one within it, as in "--token=X", "Authorization: Bearer X", "Password=X;", "?api_key=X" and {"token": "X"}. So
// is the password of any URL. A variable, ${...}, is no secret, unless its default is one, as in ${NAME:-X} and
// ${env:NAME:-X}. The whole variable is then the finding.
//
// It guesses, for questions and masks. A finding ends where the value of its name ends, so that the rest can stay readable.
// name.go has what a name says, and form.go what a value looks like.
//
// It leaves out what settings have more often than secrets do: words, short numbers and short keys without the name of a secret,
// paths and URLs under such a name, the user of a URL, a name and a password with only a colon or a slash between them, the
// arguments of "login", and -pWORD in small letters. A test has examples.
func (s *Scanner) InValue(name, value string) []Finding {
	if !strings.Contains(value, ":-") {
		return s.inText(name, value)
	}
	var findings []Finding
	var text []byte
	var starts, ends []int // in value, of a finding that starts or ends at a byte of text
	variables := variable().FindAllStringIndex(value, -1)
	for i := 0; i < len(value); {
		if len(variables) > 0 && variables[0][0] == i {
			start, end := i, variables[0][1]
			variables = variables[1:]
			if of, otherwise := defaultOf(value[start:end]); otherwise != "" {
				if len(s.InValue(of, otherwise)) > 0 {
					findings = append(findings, Finding{RuleNamed, of, start, end})
				}
				plain := withDefaults(otherwise)
				text = append(text, plain...)
				starts = append(starts, slices.Repeat([]int{start}, len(plain))...)
				ends = append(ends, slices.Repeat([]int{end}, len(plain))...)
				i = end
				continue
			}
		}
		text, starts, ends = append(text, value[i]), append(starts, i), append(ends, i+1)
		i++
	}
	starts = append(starts, len(value))
	for _, f := range s.inText(name, string(text)) {
		f.Start, f.End = starts[f.Start], ends[f.End-1]
		findings = append(findings, f)
	}
	return apart(findings)
}

// defaultOf returns the name and the default of a variable. A default that names another variable, as $NAME, is none.
func defaultOf(match string) (name, otherwise string) {
	name, otherwise, _ = strings.Cut(match[2:len(match)-1], ":-")
	if strings.HasPrefix(otherwise, "$") && !strings.HasPrefix(otherwise, "${") {
		otherwise = ""
	}
	return name[strings.LastIndexByte(name, ':')+1:], otherwise
}

// withDefaults returns a text with the defaults of its variables in their place.
func withDefaults(text string) string {
	return variable().ReplaceAllStringFunc(text, func(match string) string {
		if _, otherwise := defaultOf(match); otherwise != "" {
			return withDefaults(otherwise)
		}
		return match
	})
}

// inText is InValue for a text without the defaults of variables.
func (s *Scanner) inText(name, value string) []Finding {
	text := variable().ReplaceAllStringFunc(value, func(match string) string { return strings.Repeat(taken, len(match)) })
	if start, end := credentials(text); Named(name) && isSecretValue(name, text[start:end]) {
		return []Finding{{RuleNamed, name, start, end}}
	}
	findings := s.findAll(text, nil)
	for _, match := range keys().FindAllStringSubmatchIndex(text, -1) {
		if !isWordy(text[match[4]:match[5]]) {
			findings = append(findings, Finding{RuleNamed, name, match[2], match[5]})
		}
	}
	for _, match := range append(urlUsers().FindAllStringSubmatchIndex(text, -1), sources().FindAllStringSubmatchIndex(text, -1)...) {
		if match[4] >= 0 && !isHidden(text[match[4]:match[5]]) {
			findings = append(findings, Finding{RuleNamed, "password", match[4], match[5]})
		}
		if Generated(text[match[2]:match[3]]) {
			findings = append(findings, Finding{RuleNamed, "user", match[2], match[3]})
		}
	}
	for _, match := range schemes().FindAllStringSubmatchIndex(text, -1) {
		if strings.EqualFold(text[match[2]:match[3]], "basic") && !isBasic(text[match[4]:match[5]]) {
			continue // prose
		}
		findings = append(findings, Finding{RuleNamed, "Authorization", match[4], match[5]})
	}
	findings = append(findings, withoutName(name, text)...)
	findings = append(findings, inWords(text)...)
	if findings = apart(append(findings, pairs(text)...)); len(findings) > 0 || !strings.Contains(text, "%") {
		return findings
	}
	// An encoded text is hidden whole, because its places are not those of the decoded one.
	if plain, err := url.QueryUnescape(text); err == nil && plain != text && !strings.Contains(plain, "%") && len(s.InValue("", plain)) > 0 {
		return []Finding{{RuleNamed, name, strings.IndexByte(text, '?') + 1, len(text)}}
	}
	return nil
}

// Shown returns the name of a value as it can be shown: "…" for one that is itself a secret.
func Shown(name string) string {
	if len(New().InValue("", name)) > 0 {
		return "…"
	}
	return name
}

// withoutName finds the values that are secrets by their form: texts that were generated at random, credentials in base64, and
// private keys of any length. Name may say that the value is no secret, as an id is none.
func withoutName(name, text string) []Finding {
	var findings []Finding
	if at := privateBegin().FindStringIndex(text); at != nil {
		return []Finding{{RuleNamed, name, at[0], len(text)}}
	}
	start, end := credentials(text)
	whole := text[start:end]
	switch last := lastWord(name); {
	case isBasic(whole),
		isWeak(name) && (Generated(whole) || isPhrase(whole)),
		isRandom(whole) && !slices.Contains(aboutSecrets, last) && !slices.Contains(aboutVersions, last):
		findings = append(findings, Finding{RuleNamed, name, start, end})
	}
	for _, match := range bots().FindAllStringSubmatchIndex(text, -1) {
		findings = append(findings, Finding{RuleNamed, "bot", match[2], match[3]})
	}
	for _, match := range addresses().FindAllStringSubmatchIndex(text, -1) {
		before := ""
		for from := match[2]; from < match[3]; {
			to := match[3]
			if n := strings.IndexByte(text[from:match[3]], '/'); n >= 0 {
				to = from + n
			}
			segment := strings.TrimRight(text[from:to], "=")
			if isRandom(segment) || Generated(segment) && (Named(before) || len(segment) >= 20 && isMixed(segment)) {
				findings = append(findings, Finding{RuleNamed, "address", from, from + len(segment)})
			}
			before = segment
			from = to + 1
		}
	}
	return findings
}

// inWords finds the secrets among the words of a command line in one text, as in "-c".
func inWords(text string) []Finding {
	if !strings.Contains(text, " ") || len(text) > maxLine {
		return nil
	}
	var findings []Finding
	before := ""
	for from := 0; from < len(text); {
		to := len(text)
		if n := strings.IndexAny(text[from:], " \t\r\n"); n >= 0 {
			to = from + n
		}
		if word := strings.Trim(text[from:to], `"'`); word != "" {
			if name, ok := flagged(before, word); ok {
				start := from + strings.Index(text[from:to], word)
				findings = append(findings, Finding{RuleNamed, name, start, start + len(strings.TrimRight(word, taken))})
			}
			before = word
		}
		from = to + 1
	}
	return findings
}

// maxLine bounds a text that may be a command line, in bytes.
const maxLine = 64 << 10

// InArgs returns the secrets in the arguments of a program, for each argument. A flag may name the argument after it.
func (s *Scanner) InArgs(args []string) [][]Finding {
	all := make([][]Finding, len(args))
	for i, arg := range args {
		if all[i] = s.InValue("", arg); len(all[i]) > 0 {
			continue
		}
		if i > 0 {
			if name, ok := flagged(args[i-1], variable().ReplaceAllString(withDefaults(arg), "")); ok {
				start, end := credentials(arg)
				all[i] = []Finding{{RuleNamed, name, start, end}}
				continue
			}
		}
		if password, ok := strings.CutPrefix(arg, "-p"); ok && isMixed(password) && Generated(password) { // of MySQL
			all[i] = []Finding{{RuleNamed, "p", 2, len(arg)}}
		}
	}
	return all
}

// flagged reports whether the argument behind another one is a secret, because that one is a flag with the name of a secret.
func flagged(flag, arg string) (name string, is bool) {
	name = strings.TrimLeft(flag, "-")
	switch {
	case name == flag || name == "" || strings.Contains(flag, "=") || strings.HasPrefix(arg, "-") && !Generated(arg[1:]):
		return "", false
	case slices.Contains([]string{"u", "user", "basic", "basic-auth", "login"}, name):
		return name, strings.Contains(strings.Trim(arg, ":"), ":") && !strings.Contains(arg, "://")
	case len(name) == 1:
		return name, strings.Contains("tkpsaw", strings.ToLower(name)) && Generated(arg)
	}
	return name, Named(name) && isSecretValue(name, arg) || isWeak(name) && Generated(arg)
}

// taken stands for each byte of a variable in a value. No value of a configuration has it.
const taken = "\x01"

var (
	variable = lazyregexp.New(`\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}`)
	// urlUsers finds the user and the password of a URL.
	urlUsers = lazyregexp.New(`://([^\s/?#@:\x01"'<>]*)(?::([^\s/\x01"'<>]+))?@`)
	// sources finds the user and the password of a database that is not written as a URL: u:p@tcp(h), u:p@h:1/d and u/p@//h.
	sources = lazyregexp.New(`(?:^|[\s:="'])([\w.-]+)[:/]([^\s/:@\x01"'<>]+)@(?:(?:tcp|unix)\(|//|[\w.-]+:\d{1,5}(?:/|$))`)
	// addresses finds the paths of URLs.
	addresses = lazyregexp.New(`(?:https?|wss?)://[^\s/?#"'<>]+/([^\s?#"'<>]+)`)
	// bots finds the tokens of Telegram's bots.
	bots = lazyregexp.New(`(?:^|[^\w-])(?:bot)?([0-9]{8,10}:[\w-]{35})(?:[^\w-]|$)`)
	// privateBegin finds the beginning of a private key.
	privateBegin = lazyregexp.New(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY`)
	// schemes finds credentials with their scheme (RFC 9110, section 11.4), without a name before them.
	schemes   = lazyregexp.New(`(?i)(?:^|[\s:="'])(bearer|basic)\s+([\w.~+/-]{8,}=*)`)
	anyScheme = lazyregexp.New(`^(?i:bearer|basic|token|apikey|api-key|key) +`)
	// keys finds what services give out as keys by the beginning alone: examples have it too, but no configuration has an example.
	keys = lazyregexp.New(`(?:^|[\s:=/"'@?&,;])((?:sk-|sk_|rk_|gh[oprsu]_|github_pat_|glpat-|xox[abceprs]-|AKIA|ASIA|AIza|hf_|npm_|` +
		`lin_api_|ntn_|secret_|SG\.|shpat_|figd_|pplx-|tvly-|ctx7sk|dop_v1_|gsk_|xai-|ya29\.|eyJ)([\w.+/=-]{8,}))`)
)

// credentials returns the place of the credentials in a text: behind the scheme, if there is one.
func credentials(text string) (start, end int) {
	end = len(strings.TrimRight(text, ` "'`+"`"))
	start = min(end, len(text)-len(strings.TrimLeft(text, ` "'`+"`")))
	for _, scheme := range []string{"bearer ", "basic ", "token ", "apikey "} {
		if rest := text[start:end]; len(rest) > len(scheme) && strings.EqualFold(rest[:len(scheme)], scheme) {
			start += len(scheme)
			start += len(text[start:end]) - len(strings.TrimLeft(text[start:end], " "))
			break
		}
	}
	return start, end
}

// pairs finds the values within a text that have the name of a secret there.
func pairs(text string) []Finding {
	var findings []Finding
	done := 0 // the end of the last finding, within which there is no other
	for at := range len(text) {
		if at < done || text[at] != '=' && text[at] != ':' || strings.HasPrefix(text[at:], "://") {
			continue
		}
		end := len(strings.TrimRight(text[max(0, at-4):at], `\"' `)) + max(0, at-4)
		start := end
		for start > 0 && end-start < 60 && (isWord(text[start-1]) || strings.IndexByte(".-", text[start-1]) >= 0) {
			start--
		}
		name := text[start:end]
		if isImage := text[at] == ':' && start > 1 && text[start-1] == '/'; isImage || !Named(name) && !isWeak(name) { // "/token:X" is a flag of Windows
			continue
		}
		from, to := valueAt(text, at+1)
		if is := Named(name) && (to-from > maxKey || isSecretValue(name, text[from:to])); from < to && (is || Generated(text[from:to])) {
			findings = append(findings, Finding{RuleNamed, strings.TrimLeft(name, "-"), from, to})
			done = to
		}
	}
	return findings
}

// valueAt returns where the value behind a separator is. A quote, a blank or a separator of pairs ends it.
func valueAt(text string, from int) (start, end int) {
	const most = 8 << 10
	start = from
	for start < len(text) && start-from < 8 && strings.IndexByte(`> \"'`, text[start]) >= 0 {
		start++
	}
	rest := text[start:min(len(text), start+most)]
	quote := ""
	if start > from {
		quote = strings.Trim(text[start-1:start], "> \\")
	}
	// The scheme of credentials is none of them, unless nothing follows.
	if match := anyScheme().FindString(rest); match != "" {
		start += len(match)
		rest = rest[len(match):]
	}
	ends := " \t\r\n\"'\\&;" + taken
	if quote != "" && strings.Contains(rest, quote) {
		ends = quote + taken
	}
	if n := strings.IndexAny(rest, ends); n >= 0 {
		rest = rest[:n]
	}
	return start, start + len(strings.TrimRight(rest, `}])\`))
}
