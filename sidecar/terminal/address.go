package terminal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// addressText returns a page's URL for a person who decides about it: its site, the warnings, and the whole URL. The
// text is safe to show. stress highlights the site.
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

// addressWarnings returns the warnings about a URL.
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
	list = append(list, numberWarnings(host)...)
	if u.Scheme == "http" {
		list = append(list, "The connection is not encrypted: others can read and change the data in transit.")
	}
	if port := u.Port(); port != "" {
		list = append(list, fmt.Sprintf("The site is at port %s, which is unusual.", port))
	}
	return list
}

// numberWarnings returns the warnings about a host that is an IP address in any notation. To a browser, 2130706433 and
// 0x7f.1 are 127.0.0.1.
func numberWarnings(host string) []string {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		last := plainHost(host)
		if _, ok := hostNumber(last[strings.LastIndex(last, ".")+1:]); !ok {
			return nil
		}
		var ok bool
		if ip, ok = ipv4(last); !ok { // browsers refuse such a host
			return []string{"The site is a number that is not an address."}
		}
	}
	ip = ip.Unmap()
	list := []string{fmt.Sprintf("The site is a number, the address %s, which does not name its owner.", ip)}
	switch {
	case ip.IsLoopback(), ip.IsUnspecified():
		list = append(list, "The page is on this computer, not on the web.")
	case ip.IsPrivate(), ip.IsLinkLocalUnicast():
		list = append(list, "The page is in your own network, not on the web.")
	}
	return list
}

// plainHost returns a host as browsers read it: full-width digits, letters and dots count as ASCII, and a dot at the
// end is ignored.
func plainHost(host string) string {
	host = strings.Map(func(r rune) rune {
		switch {
		case r == '\u3002', r == '\uff61':
			return '.'
		case r >= '\uff01' && r <= '\uff5e':
			return r - '\uff01' + '!'
		}
		return unicode.ToLower(r)
	}, host)
	return strings.TrimSuffix(host, ".")
}

// ipv4 reads a host of one to four numbers. The last number fills all remaining bytes (WHATWG URL, "IPv4 parser").
func ipv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var bits uint64
	for i, part := range parts {
		n, ok := hostNumber(part)
		most := uint64(1)<<8 - 1
		if i == len(parts)-1 {
			most = 1<<(8*(5-len(parts))) - 1
		}
		if !ok || n > most {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			bits |= n
		} else {
			bits |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, uint32(bits)))), true
}

// hostNumber reads a number of a host: hexadecimal after 0x, octal after 0, else decimal. It returns the largest uint64
// for a number that is too large.
func hostNumber(text string) (n uint64, ok bool) {
	digits, base := text, 10
	switch {
	case strings.HasPrefix(text, "0x"):
		digits, base = text[2:], 16
	case len(text) > 1 && text[0] == '0':
		digits, base = text[1:], 8
	}
	if digits == "" {
		return 0, base == 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}
