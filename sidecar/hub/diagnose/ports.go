package diagnose

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/config"
)

// maxPorts is how many ports are looked at.
const maxPorts = 4

// inUse are the ways in which programs complain that a port is taken, and named is where they name it.
var (
	inUse = lazyregexp.New(`(?i)EADDRINUSE|address (?:is )?already in use|port \d+ is (?:already )?(?:in use|taken|allocated)|only one usage of each socket address`)
	named = lazyregexp.New(`(?i)(?:(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[?::1?\]?|\*)[:', ]+|port[ :='"]+|:::|:)(\d{2,5})\b`)
)

// portsOf returns the ports of this machine that a configuration names, or a failure complains of.
func portsOf(c config.Server, f *Failure) []int {
	var ports []int
	add := func(text string) {
		if port, err := strconv.Atoi(text); err == nil && port > 0 && port < 1<<16 && len(ports) < maxPorts && !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	add(loopbackPort(c))
	if f != nil {
		for _, line := range f.Stderr {
			// A time or an address may stand before it.
			if all := named().FindAllStringSubmatch(line, -1); all != nil && inUse().MatchString(line) {
				add(all[len(all)-1][1])
			}
		}
	}
	for i, arg := range c.Args {
		flag, value, ok := strings.Cut(arg, "=")
		if !ok && i+1 < len(c.Args) {
			value = c.Args[i+1]
		}
		if flag == "--port" || flag == "-p" {
			add(value)
		}
	}
	if value := c.Env["PORT"]; value != nil {
		add(*value)
	}
	return ports
}

// loopbackPort returns the port of this machine at which a server is reached, or "".
func loopbackPort(c config.Server) string {
	u, err := url.Parse(c.URL)
	if err != nil || !isLoopback(u.Hostname()) {
		return ""
	}
	return cmp.Or(u.Port(), map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443"}[u.Scheme])
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}
