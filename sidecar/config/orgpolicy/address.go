package orgpolicy

import (
	"net/netip"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/idna"

	"assent/sidecar/base/wildcard"
)

// address is a URL, or a pattern of URLs, in its parts.
type address struct{ scheme, host, port, path, query string }

// addressOf takes a URL apart as browsers do: a backslash is a slash, and the user is no part of the host. It reports
// whether the text is a URL with a host.
func addressOf(text string) (a address, ok bool) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return a, false
	}
	a.scheme = strings.ToLower(scheme)
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, `/\?`)
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	authority = authority[strings.LastIndex(authority, "@")+1:]
	if colon := strings.LastIndex(authority, ":"); colon > strings.LastIndex(authority, "]") {
		authority, a.port = authority[:colon], strings.TrimLeft(authority[colon+1:], "0")
	}
	a.host = plainHost(authority)
	if a.port == map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}[a.scheme] {
		a.port = ""
	}
	a.path, a.query, _ = strings.Cut(rest, "?")
	a.path = strings.ReplaceAll(a.path, `\`, "/")
	return a, a.host != ""
}

// dots are the characters that part the names of a host.
var dots = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

// plainHost returns a host as it is looked up: without the other ways in which its letters or its number can be written.
func plainHost(host string) string {
	if plain, err := url.PathUnescape(host); err == nil {
		host = plain
	}
	number, hasBrackets := strings.CutPrefix(strings.TrimSuffix(host, "]"), "[")
	if address, err := netip.ParseAddr(number); err == nil && hasBrackets {
		return address.Unmap().String()
	}
	names := strings.Split(dots.Replace(host), ".")
	for i, name := range names {
		// A name of a pattern has a *, and none of a URL has.
		if plain, err := idna.Lookup.ToASCII(name); err == nil {
			names[i] = plain
		}
	}
	return strings.ToLower(strings.Join(names, "."))
}

// paths returns the readings of a path: as it is written, and as a server may take it.
func (a address) paths() []string {
	written := a.path
	if written == "" {
		written = "/"
	}
	all := []string{written}
	if plain, err := url.PathUnescape(written); err == nil {
		clean := path.Clean(plain)
		if strings.HasSuffix(plain, "/") && clean != "/" {
			clean += "/"
		}
		all = append(all, clean)
	}
	return all
}

// addresses returns those texts that are URLs, in their parts.
func addresses(texts ...string) (all []address) {
	for _, text := range texts {
		if a, ok := addressOf(text); ok {
			all = append(all, a)
		}
	}
	return all
}

// denyURL reports whether a pattern has a URL by any reading. A pattern without a port or a path has all of them, and each
// pattern has all schemes: a server is reached by https and wss, and often by http, too.
func denyURL(want, got address, hasNoCase bool) bool {
	if !wildcard.Match(strings.TrimSuffix(want.host, "."), strings.TrimSuffix(got.host, ".")) || want.port != "" && !wildcard.Match(want.port, got.port) {
		return false
	}
	pattern := want.path
	if hasNoCase {
		pattern, got.query = strings.ToLower(pattern), strings.ToLower(got.query)
	}
	for _, path := range got.paths() {
		if hasNoCase {
			path = strings.ToLower(path)
		}
		if pattern == "" || wildcard.Match(pattern, path) || wildcard.Match(pattern, path+"?"+got.query) {
			return true
		}
	}
	return false
}

// allowURL reports whether a pattern has a URL by each reading. VS Code compares without case, takes the query and the final
// dot of a host into account, and a pattern without a path has nothing.
func allowURL(pattern, text string, vscode bool) bool {
	want, ok := addressOf(pattern)
	got, is := addressOf(text)
	if !ok || !is || vscode && want.path == "" {
		return false
	}
	if !vscode {
		want.host, got.host = strings.TrimSuffix(want.host, "."), strings.TrimSuffix(got.host, ".")
	}
	if !wildcard.Match(want.scheme, got.scheme) || !wildcard.Match(want.host, got.host) || !wildcard.Match(want.port, got.port) {
		return false
	}
	if vscode {
		got.path, want.path = strings.ToLower(got.path), strings.ToLower(want.path)
	}
	for _, path := range got.paths() {
		if vscode {
			if want.query != "" || got.query != "" {
				if !wildcard.Match(want.path+"?"+want.query, path+"?"+got.query) && (want.query != "" || !strings.HasSuffix(want.path, "*") || !wildcard.Match(want.path, path)) {
					return false
				}
				continue
			}
		}
		if want.path != "" && !wildcard.Match(want.path, path) {
			return false
		}
	}
	return true
}
