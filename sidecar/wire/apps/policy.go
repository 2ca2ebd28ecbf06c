package apps

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Domains are the origins that an app declares, by their use (SEP-1865, McpUiResourceCsp).
type Domains struct {
	Connect  []string `json:"connectDomains"`
	Resource []string `json:"resourceDomains"`
	Frame    []string `json:"frameDomains"`
	BaseURI  []string `json:"baseUriDomains"`
}

const (
	// maxDomains bounds the domains of each kind, and maxDomain the length of one in bytes.
	maxDomains = 50
	maxDomain  = 300
)

// checked returns the domains that an app may have, in one form, and those that it may not.
func (d Domains) checked() (good Domains, refused []string) {
	check := func(declared []string, schemes ...string) (list []string) {
		for i, domain := range declared {
			origin, ok := checkDomain(domain, schemes)
			switch {
			case !ok || i >= maxDomains:
				if short := cut(domain); len(refused) < maxDomains && !slices.Contains(refused, short) {
					refused = append(refused, short)
				}
			case !slices.Contains(list, origin):
				list = append(list, origin)
			}
		}
		return list
	}
	good = Domains{
		Connect: check(d.Connect, "https", "wss"), Resource: check(d.Resource, "https"),
		Frame: check(d.Frame, "https"), BaseURI: check(d.BaseURI, "https"),
	}
	return good, refused
}

// All returns all domains, each once, sorted.
func (d Domains) All() []string {
	all := slices.Concat(d.Connect, d.Resource, d.Frame, d.BaseURI)
	slices.Sort(all)
	return slices.Compact(all)
}

// checkDomain returns an origin in one form, such as https://a.example:8443 or https://*.a.example. No origin is an address, a
// name of this machine or of its network, or a wildcard for more than one owner's names. Nothing in it can end a directive of
// a policy.
func checkDomain(domain string, schemes []string) (string, bool) {
	if len(domain) > maxDomain {
		return "", false
	}
	scheme, rest, found := strings.Cut(domain, "://")
	rest = strings.TrimSuffix(rest, "/")
	if !found || !slices.Contains(schemes, strings.ToLower(scheme)) {
		return "", false
	}
	wild := ""
	if name, ok := strings.CutPrefix(rest, "*."); ok {
		wild, rest = "*.", name
	}
	u, err := url.Parse("https://" + rest)
	if err != nil || u.Host != rest || u.User != nil {
		return "", false
	}
	host := strings.ToLower(u.Hostname())
	if !isPublicName(host) {
		return "", false
	}
	if suffix, _ := publicsuffix.PublicSuffix(host); wild != "" && suffix == host {
		return "", false
	}
	port := ""
	if p := u.Port(); p != "" {
		port = ":" + p
	}
	return strings.ToLower(scheme) + "://" + wild + host + port, true
}

// localNames are domains that name something near this machine.
var localNames = []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa", "test", "invalid", "onion"}

// isPublicName reports whether a host is a name of the public Internet, in ASCII.
func isPublicName(host string) bool {
	labels := strings.Split(host, ".")
	if len(labels) < 2 {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	// Browsers read a last label of digits as a part of an address, such as 127.1 or 0x7f.1.
	last := labels[len(labels)-1]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return false
	}
	return !slices.ContainsFunc(localNames, func(name string) bool { return strings.HasSuffix(host, "."+name) })
}

func cut(text string) string {
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "") + "…"
	}
	return text
}

// policyOf returns the Content-Security-Policy of an app that may load from these domains. Code that the app itself brings may
// run in any form, because the frame and not the form of the code is what holds it. Nothing is 'self': the app has no origin.
func policyOf(d Domains) string {
	sources := func(always string, domains []string) string {
		if s := strings.TrimSpace(always + " " + strings.Join(domains, " ")); s != "" {
			return s
		}
		return "'none'"
	}
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + sources("'unsafe-inline' 'unsafe-eval' blob: data:", d.Resource),
		"style-src " + sources("'unsafe-inline' blob: data:", d.Resource),
		"img-src " + sources("blob: data:", d.Resource),
		"font-src " + sources("blob: data:", d.Resource),
		"media-src " + sources("blob: data:", d.Resource),
		"worker-src blob: data:",
		"connect-src " + sources("blob: data:", d.Connect),
		"frame-src " + sources("", d.Frame),
		"base-uri " + sources("", d.BaseURI),
		"object-src 'none'", "form-action 'none'",
		"sandbox " + sandbox,
	}, "; ")
}

// connectionsOf returns the Connection-Allowlist of an app that may load from these domains. It also holds what no
// Content-Security-Policy does: WebRTC, preconnections and lookups of names, which can carry data away. A browser that does
// not know the header ignores it.
func connectionsOf(d Domains) string {
	quoted := []string{}
	for _, domain := range d.All() {
		quoted = append(quoted, `"`+domain+`"`) // checkDomain leaves no quote in it
	}
	return "(" + strings.Join(quoted, " ") + ")"
}

// sandbox is what both frames may: run scripts, and show forms, which can be sent nowhere.
const sandbox = "allow-scripts allow-forms"

// outerPolicy is the policy of the outer frame of an app, on the host that the browser knows. The inner frame may only ever
// show the app.
func outerPolicy(host, id string) string {
	return strings.Join([]string{
		"default-src 'none'", "script-src " + outerScriptHash, "style-src " + outerStyleHash,
		fmt.Sprintf("frame-src http://%s%s%s", host, appPath, id),
		"base-uri 'none'", "object-src 'none'", "form-action 'none'",
		"sandbox " + sandbox,
	}, "; ")
}

// denied are the features of browsers that no app has.
var denied = []string{
	"accelerometer", "autoplay", "browsing-topics", "camera",
	"clipboard-read", "clipboard-write", "compute-pressure", "display-capture", "encrypted-media", "fullscreen", "gamepad",
	"geolocation", "gyroscope", "hid", "identity-credentials-get", "idle-detection", "keyboard-map", "local-fonts",
	"magnetometer", "microphone", "midi", "otp-credentials", "payment", "picture-in-picture",
	"publickey-credentials-create", "publickey-credentials-get", "screen-wake-lock", "serial", "storage-access", "usb",
	"window-management", "xr-spatial-tracking",
}

// setHeaders sets what all answers have in common.
func setHeaders(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // a frame without an origin loads it
	h.Set("Permissions-Policy", strings.Join(denied, "=(), ")+"=()")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-DNS-Prefetch-Control", "off")
}
