package auth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestGuardBounds(t *testing.T) {
	var hostile *httptest.Server
	hostile = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless":
			http.Redirect(rw, r, hostile.URL+"/endless", http.StatusFound)
		case "/downgrade":
			http.Redirect(rw, r, "http://example.com/", http.StatusFound)
		case "/moved":
			http.Redirect(rw, r, hostile.URL+"/", http.StatusTemporaryRedirect)
		case "/large":
			_, _ = io.Copy(rw, io.LimitReader(zeros{}, maxBody+1000))
		}
	}))
	defer hostile.Close()
	web := newGuard(true, http.ProxyFromEnvironment, isPrivate)
	defer web.CloseIdleConnections()
	for path, want := range map[string]string{"/endless": "more than 3 redirects", "/downgrade": "neither https nor on this machine"} {
		response, err := web.Get(hostile.URL + path)
		if err == nil {
			response.Body.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	response, err := web.Post(hostile.URL+"/moved", "text/plain", strings.NewReader("secret"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("a POST was sent to where it was redirected: %s", response.Status)
	}
	response, err = web.Get(hostile.URL + "/large")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if n, err := io.Copy(io.Discard, response.Body); n != maxBody || err != nil {
		t.Errorf("%d bytes were read, %v; want %d", n, err, maxBody)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestIsPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true,
		"127.0.0.1": false, "::1": false, "::ffff:127.0.0.1": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "224.0.0.1": false, "fe80::1": false, "fd00::1": false,
		"0.1.2.3": false, "192.0.0.192": false, "198.19.0.1": false, "255.255.255.255": false, "fec0::1": false,
		"64:ff9b::8.8.8.8": true, "64:ff9b::10.0.0.1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("isPublic(%s) = %v", address, got)
		}
	}
}

func TestCanonical(t *testing.T) {
	for address, want := range map[string]string{
		"https://Example.COM/Mcp":          "https://example.com/Mcp",
		"https://user:pw@example.com/#top": "https://example.com/",
		"wss://example.com/mcp?a=b":        "https://example.com/mcp?a=b",
		"ws://localhost:1/mcp":             "http://localhost:1/mcp",
		"https://example.com":              "https://example.com",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := canonical(u); got != want {
			t.Errorf("canonical(%s) = %s, want %s", address, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	if got := clip("a\nb\u202ec"+strings.Repeat("x", 400), 300); len([]rune(got)) != 301 || !strings.HasPrefix(got, "a b cx") {
		t.Errorf("%q", got)
	}
}
