package auth

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// maxBody bounds each answer, in bytes.
	maxBody = 1 << 20
	// maxRedirects bounds the redirects of a request.
	maxRedirects = 3
	// requestTimeout bounds each request to an authorization server.
	requestTimeout = 30 * time.Second
)

// errPrivate is the error for an address that guard does not dial.
var errPrivate = errors.New("a server of the internet may not name an address of this network")

// guard is the transport for the URLs that servers name in their metadata. It reads at most maxBody of an answer. A
// server of the internet must not lead Assent to an address that only this machine or its network can reach (Security
// Best Practices, "Server-Side Request Forgery"). So guard checks each address after the name is resolved, and before
// it connects. A server on this network may do so, because its authorization server may be on the network, too.
//
// A proxy resolves the names itself, so requests through it are not checked.
type guard struct {
	direct, proxied *http.Transport
	proxy           func(*http.Request) (*url.URL, error)
}

// newGuard returns a client that uses a guard. near says that the server is on this network; see [login.near]. The
// client follows at most maxRedirects redirects, and only to https or to this machine.
func newGuard(near bool, proxy func(*http.Request) (*url.URL, error), private func(netip.AddrPort) bool) *http.Client {
	transport := func(control func(string, string, syscall.RawConn) error) *http.Transport {
		dialer := net.Dialer{Timeout: 10 * time.Second, Control: control}
		return &http.Transport{
			Proxy:                  proxy,
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		}
	}
	g := &guard{proxied: transport(nil), proxy: proxy}
	g.direct = g.proxied
	if !near {
		g.direct = transport(func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err == nil && private(to) {
				err = errPrivate
			}
			return err
		})
	}
	return &http.Client{Transport: g, CheckRedirect: checkRedirect, Timeout: requestTimeout}
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	transport := g.direct
	if proxy, err := g.proxy(r); err == nil && proxy != nil {
		transport = g.proxied
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = limited{io.LimitReader(response.Body, maxBody), response.Body}
	return loosened(response)
}

// CloseIdleConnections is for [http.Client.CloseIdleConnections], which calls it.
func (g *guard) CloseIdleConnections() {
	g.direct.CloseIdleConnections()
	g.proxied.CloseIdleConnections()
}

type limited struct {
	io.Reader
	io.Closer
}

func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if r.Method != http.MethodGet {
		return http.ErrUseLastResponse // credentials must not go to another URL
	}
	return checkSecure(r.URL)
}

// checkSecure refuses URLs whose answers can be changed in transit: all except https, and http on this machine.
func checkSecure(u *url.URL) error {
	if u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())) {
		return nil
	}
	return fmt.Errorf("%s is neither https nor on this machine", u.Redacted())
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// special lists the address blocks outside the public internet that package netip does not know (IANA's special-purpose
// address registries).
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // carrier-grade NAT (RFC 6598)
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b:1::/48"), // a network's own translation to IPv4 (RFC 8215)
	netip.MustParsePrefix("fec0::/10"),
}

// translated is the block of IPv6 addresses that a network with NAT64 translates to the IPv4 address in their last 32
// bits (RFC 6052, section 2.1).
var translated = netip.MustParsePrefix("64:ff9b::/96")

func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	if translated.Contains(ip) {
		bits := ip.As16()
		ip = netip.AddrFrom4([4]byte(bits[12:]))
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// isPrivate is the default of Options.private: it reports whether an address is outside the public internet.
func isPrivate(to netip.AddrPort) bool { return !isPublic(to.Addr()) }

// near reports whether the server is on this machine or its network, according to its URL or to the address from which
// it answered last. A DNS lookup proves nothing, because the owner of the name chooses the addresses and can change
// them each time.
func (l *login) near() bool {
	if isNear(l.server.URL, l.a.opts.private) {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answeredNearby
}

// isNear reports whether the host of a URL is localhost or a private address.
func isNear(u *url.URL, private func(netip.AddrPort) bool) bool {
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return false
	}
	port, _ := strconv.ParseUint(u.Port(), 10, 16) // 0 if the URL has no port
	return private(netip.AddrPortFrom(ip, uint16(port)))
}

// send sends a request to the server, and records whether the answer came from this network.
func (l *login) send(base http.RoundTripper, r *http.Request) (*http.Response, error) {
	var conn atomic.Pointer[net.Conn]
	traced := r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { conn.Store(&info.Conn) },
	}))
	response, err := base.RoundTrip(traced)
	if err != nil {
		return nil, err
	}
	l.recordNonce(response)
	if proxy, err := l.server.Proxy(r); err != nil || proxy != nil {
		return response, nil // the connection is to the proxy
	}
	if c := conn.Load(); c != nil {
		at, err := netip.ParseAddrPort((*c).RemoteAddr().String())
		l.mu.Lock()
		l.answeredNearby = err == nil && l.a.opts.private(at)
		l.mu.Unlock()
	}
	return response, nil
}
