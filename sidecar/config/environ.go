package config

import (
	"net/http"
	"net/url"
	"runtime"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// LookupEnv returns a variable of an environment in the form of [os.Environ]; an unset one is empty. Windows ignores the case
// of names.
func LookupEnv(environ []string, name string) string {
	value := ""
	for _, kv := range environ { // the last one counts
		if k, v, _ := strings.Cut(kv, "="); sameName(k, name) {
			value = v
		}
	}
	return value
}

// Home returns the person's own folder by an environment, as [os.UserHomeDir] does by that of this process. It is empty if the
// environment does not name one.
func Home(environ []string) string {
	if runtime.GOOS == "windows" {
		return LookupEnv(environ, "USERPROFILE")
	}
	return LookupEnv(environ, "HOME")
}

// Proxy returns which proxy a request goes through by an environment, as [http.ProxyFromEnvironment] does by that of this
// process: a daemon serves windows with other environments than its own.
func Proxy(environ []string) func(*http.Request) (*url.URL, error) {
	either := func(upper, lower string) string {
		if value := LookupEnv(environ, upper); value != "" {
			return value
		}
		return LookupEnv(environ, lower)
	}
	c := httpproxy.Config{
		HTTPProxy:  either("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: either("HTTPS_PROXY", "https_proxy"),
		NoProxy:    either("NO_PROXY", "no_proxy"),
		CGI:        LookupEnv(environ, "REQUEST_METHOD") != "", // HTTP_PROXY may then be a client's header
	}
	choose := c.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}
