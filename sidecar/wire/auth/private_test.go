package auth_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"assent/sidecar/wire/auth"
)

const wantPrivate = "a server of the internet may not name an address of this network"

// trap is a server on a private address. It counts who comes.
type trap struct {
	*httptest.Server
	reached atomic.Int32
}

func newTrap(t *testing.T) *trap {
	tr := &trap{}
	tr.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		tr.reached.Add(1)
		http.Error(rw, "reached", http.StatusInternalServerError)
	}))
	t.Cleanup(tr.Close)
	return tr
}

// privatePorts says which ports of this machine are private addresses. All others are the internet.
type privatePorts struct {
	mu    sync.Mutex // guards the field below
	ports []string
}

func (p *privatePorts) add(s *httptest.Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ports = append(p.ports, s.Listener.Addr().String())
}

func (p *privatePorts) has(at netip.AddrPort) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, port := range p.ports {
		if at.String() == port {
			return true
		}
	}
	return false
}

func TestAServerOfTheInternetLeadsToNothingPrivate(t *testing.T) {
	tests := []struct {
		name string
		// lead makes the server lead to the trap.
		lead func(w *world, to string)
	}{
		{"its metadata", func(w *world, to string) { w.DescribedAt = to + "/metadata" }},
		{"a redirect of its metadata", func(w *world, to string) { w.MovedTo = to + "/metadata" }},
		{"its authorization server", func(w *world, to string) { w.issuers[0].URL = to }},
		{"the registration", func(w *world, to string) { w.issuers[0].More["registration_endpoint"] = to + "/register" }},
		{"the token", func(w *world, to string) { w.issuers[0].More["token_endpoint"] = to + "/token" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			tr := newTrap(t)
			var private privatePorts
			private.add(tr.Server)
			test.lead(w, tr.URL)
			c := w.connect(w.authorizer(func(o *auth.Options) { o.SetPrivate(private.has) }))
			if _, err := w.post(c, "/mcp"); err == nil || !strings.Contains(err.Error(), wantPrivate) {
				t.Errorf("%v, want %s", err, wantPrivate)
			}
			if n := tr.reached.Load(); n != 0 {
				t.Errorf("%d requests reached the private address", n)
			}
		})
	}
}

func TestARenewalLeadsToNothingPrivate(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	i.ExpiresIn = 1 // less than how early a token is renewed
	var private privatePorts
	a := w.authorizer(func(o *auth.Options) { o.SetPrivate(private.has) })
	c := w.connect(a)
	w.mustPost(c, "/mcp")
	renewals := len(i.tokenRequests)
	w.with(i.endTokens)
	private.add(i.server)
	if _, err := w.post(c, "/mcp"); err == nil || !strings.Contains(err.Error(), wantPrivate) {
		t.Errorf("%v, want %s", err, wantPrivate)
	}
	if n := len(i.tokenRequests); n != renewals {
		t.Errorf("%d token requests, want the %d from before its address became private", n, renewals)
	}
}

func TestAServerOnTheNetworkRenewsAfterARestart(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	i.ExpiresIn = 1
	var private privatePorts
	private.add(i.server)
	at, err := url.Parse(w.url()) // which does not say where the server is
	if err != nil {
		t.Fatal(err)
	}
	base := &http.Transport{DialContext: from(i.server.Listener.Addr().String(), w.server)}
	defer base.CloseIdleConnections()
	for range 2 {
		a := w.authorizer(func(o *auth.Options) { o.SetPrivate(private.has) })
		w.mustPost(&http.Client{Transport: a.Transport(auth.Server{Name: "files", URL: at}, base)}, "/mcp")
		a.Close()
	}
	if len(i.logins) != 1 {
		t.Errorf("%d logins, want one", len(i.logins))
	}
}

// The owner of a server's name chooses the addresses to which it resolves. The address that answers is a fact.
func TestTheAddressThatIsDialledDecides(t *testing.T) {
	resolveTo(t, map[string][]string{"example.com.": {"93.184.215.14", "127.0.0.1"}, "inside.example.": {"127.0.0.1"}})
	tests := []struct {
		name string
		// from is the address from which the server answers, and metadata the host that it names.
		from, metadata string
		reached        bool
	}{
		{"one private address among public ones", "93.184.215.14:443", "http://127.0.0.1", false},
		{"a name of a private address", "93.184.215.14:443", "https://inside.example", false},
		{"a server on the network", "10.0.0.5:443", "http://127.0.0.1", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			tr := newTrap(t)
			u, err := url.Parse(tr.URL)
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer resource_metadata=%q", test.metadata+":"+u.Port()+"/metadata"))
				rw.WriteHeader(http.StatusUnauthorized)
			}))
			defer server.Close()
			base := server.Client().Transport.(*http.Transport)
			base.DialContext = from(test.from, server)
			defer base.CloseIdleConnections()
			at := auth.Server{Name: "files", URL: &url.URL{Scheme: "https", Host: "example.com", Path: "/mcp"}}
			c := &http.Client{Transport: w.authorizer().Transport(at, base)}
			response, err := c.Post(at.URL.String(), "text/plain", strings.NewReader("hello"))
			if err == nil {
				response.Body.Close()
				t.Fatal("let in")
			}
			if got := strings.Contains(err.Error(), wantPrivate); got == test.reached {
				t.Error(err)
			}
			if n := tr.reached.Load(); (n > 0) != test.reached {
				t.Errorf("%d requests reached the private address", n)
			}
		})
	}
}

// connFrom is a connection from a remote address of the test's choice.
type connFrom struct {
	net.Conn
	remote net.Addr
}

func (c connFrom) RemoteAddr() net.Addr { return c.remote }

// from returns a dialer that always reaches a server, and makes its connections report another remote address.
func from(address string, server *httptest.Server) func(context.Context, string, string) (net.Conn, error) {
	remote := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		if err != nil {
			return nil, err
		}
		return connFrom{c, remote}, nil
	}
}

// resolveTo makes names resolve to IPv4 addresses until the test ends.
func resolveTo(t *testing.T, names map[string][]string) {
	before := net.DefaultResolver
	var serving sync.WaitGroup
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		serving.Go(func() {
			defer server.Close()
			for answerDNS(server, names) == nil {
			}
		})
		return client, nil
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		serving.Wait()
	})
}

// answerDNS answers one query on a stream (RFC 1035, sections 4.1 and 4.2.2).
func answerDNS(conn io.ReadWriter, names map[string][]string) error {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return err
	}
	const headerSize, typeA = 12, 1
	name, end := "", headerSize
	for query[end] != 0 {
		name += string(query[end+1:end+1+int(query[end])]) + "."
		end += 1 + int(query[end])
	}
	kind := binary.BigEndian.Uint16(query[end+1:])
	end += 5
	addresses := names[name]
	flags := uint16(0x8180) // a response, recursive
	if addresses == nil {
		flags |= 3 // no such name
	}
	if kind != typeA {
		addresses = nil
	}
	answer := append([]byte(nil), query[:2]...)
	for _, n := range []uint16{flags, 1, uint16(len(addresses)), 0, 0} {
		answer = binary.BigEndian.AppendUint16(answer, n)
	}
	answer = append(answer, query[headerSize:end]...)
	for _, address := range addresses {
		answer = append(answer, 0xc0, headerSize, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4) // the name, type, class, time to live, length
		answer = append(answer, netip.MustParseAddr(address).AsSlice()...)
	}
	_, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	return err
}
