package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	// maxBody bounds each answer, in bytes.
	maxBody = 1 << 20
	// maxRedirects bounds how often a metadata document may be elsewhere.
	maxRedirects = 3
	// requestPatience bounds each request to an authorization server.
	requestPatience = 30 * time.Second
)

// guard is the client for what servers name in their metadata: it reads no more than maxBody, follows
// few redirects and those to https alone, and lets a server out in the world name nothing that only this
// machine or its network can reach (Security Best Practices, "Server-Side Request Forgery"). A server on
// the network has its authorization server there, too, and may.
//
// What goes through a proxy is resolved there, and is the proxy's to judge.
type guard struct{ direct, proxied *http.Transport }

func newGuard(ctx context.Context, server *url.URL) *http.Client {
	transport := func(control func(string, string, syscall.RawConn) error) *http.Transport {
		dialer := net.Dialer{Timeout: 10 * time.Second, Control: control}
		return &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		}
	}
	g := &guard{proxied: transport(nil)}
	g.direct = g.proxied
	if !isLocal(ctx, server.Hostname()) {
		g.direct = transport(publicOnly)
	}
	return &http.Client{Transport: g, CheckRedirect: checkRedirect, Timeout: requestPatience}
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	transport := g.direct
	if proxy, err := http.ProxyFromEnvironment(r); err == nil && proxy != nil {
		transport = g.proxied
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = limited{io.LimitReader(response.Body, maxBody), response.Body}
	return response, nil
}

// CloseIdleConnections is called by [http.Client.CloseIdleConnections].
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
		return http.ErrUseLastResponse // credentials go where they were to go
	}
	return checkSecure(r.URL)
}

// checkSecure refuses URLs whose answers anybody on the way can change.
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

// isLocal reports whether a host is one that not everybody reaches.
func isLocal(ctx context.Context, host string) bool {
	if isLoopback(host) {
		return true
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return !isPublic(ip)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return false // if there is no way to it, there is none to what it names
	}
	for _, ip := range ips {
		if !isPublic(ip) {
			return true
		}
	}
	return false
}

// shared is the address space that carriers use inside (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !shared.Contains(ip)
}

// publicOnly is a [net.Dialer.Control]: it sees what a name was resolved to.
func publicOnly(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !isPublic(to.Addr()) {
		return errors.New("a server of the internet may not name an address of this network")
	}
	return nil
}
