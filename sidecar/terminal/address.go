package terminal

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
)

// addressText is a page's URL as it is read before somebody goes there: whose it is first, what to beware of, and the
// whole of it. It is safe to show. Whose it is stands out by what stress makes of it.
func addressText(address string, stress func(string) string) string {
	var b strings.Builder
	u, err := url.Parse(address)
	if err == nil && u.Host != "" {
		fmt.Fprintf(&b, "It is a page of:\n  %s\n", stress(safe(u.Host)))
		for _, w := range addressWarnings(u) {
			fmt.Fprintf(&b, "! %s\n", w)
		}
	}
	fmt.Fprintf(&b, "The whole URL is:\n  %s", safe(address))
	return b.String()
}

// addressWarnings are what to beware of.
func addressWarnings(u *url.URL) []string {
	var list []string
	host := u.Hostname()
	if u.User != nil {
		list = append(list, "What stands before the @ is no name of a site, though it may look like one.")
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		list = append(list, "The name of the site has letters beyond a to z: it may only look like one that you know.")
	}
	for label := range strings.SplitSeq(strings.ToLower(host), ".") {
		if strings.HasPrefix(label, "xn--") {
			list = append(list, "The name of the site is written in Punycode: a browser may show other letters, which only look like a name that you know.")
			break
		}
	}
	if _, err := netip.ParseAddr(host); err == nil {
		list = append(list, "The site is given by a number, so nothing says whose it is.")
	}
	if u.Scheme == "http" {
		list = append(list, "The connection is not encrypted: others on the way can read and change what is sent.")
	}
	if port := u.Port(); port != "" {
		list = append(list, fmt.Sprintf("The site is at port %s, which is unusual.", port))
	}
	return list
}
