package auth

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"assent/sidecar/base/secret"
)

// secretParams are the parameters of token requests that are secrets.
var secretParams = []string{"client_secret", "client_assertion", "code", "code_verifier", "refresh_token", "assertion", "subject_token"}

// tokenError returns the error of the token endpoint; see [refusal].
func tokenError(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return refusal(refused.Response, refused.Body, refused.ErrorCode, refused.ErrorDescription)
	}
	if transport, ok := errors.AsType[*url.Error](err); ok {
		return transport
	}
	return errors.New("the answer was not a token")
}

// registrationError returns the error of the registration endpoint, of which heard has the answer; see [refusal].
func registrationError(err error, heard *listener) error {
	if transport, ok := errors.AsType[*url.Error](err); ok {
		return transport
	}
	if heard.response == nil || heard.response.StatusCode < http.StatusBadRequest {
		return errors.New("the answer was not one to a registration")
	}
	return refusal(heard.response, heard.body.Bytes(), "", "")
}

// refusal returns the error in an answer of an authorization server in one line. If the answer has no OAuth error, the
// line has the server's own words and the status. The rest of the answer may hold secrets and is not shown. No secret of
// the request is shown either.
func refusal(response *http.Response, body []byte, code, description string) error {
	sent := sentSecrets(response.Request)
	masker := secret.NewMasker()
	masker.SetKnown(func() []secret.Known { return sent })
	if response.StatusCode >= http.StatusBadRequest {
		var told oauthex.ClientRegistrationError
		_ = json.Unmarshal(body, &told) // a member of another type is left out
		masked := masker.Mask(string(body))
		said := words([]byte(masked[:min(len(masked), maxWords)]))
		if strings.HasPrefix(said, "{") { // JSON without a message
			said = ""
		}
		code, description = cmp.Or(code, told.ErrorCode), cmp.Or(description, told.ErrorDescription, said)
	}
	description = masker.Mask(description)
	// A masker does not find short secrets.
	isSent := func(s secret.Known) bool { return strings.Contains(description, s.Value) }
	if description == code || slices.ContainsFunc(sent, isSent) {
		description = ""
	}
	return oauthError(cmp.Or(code, fmt.Sprintf("status %d", response.StatusCode)), description)
}

// sentSecrets returns the secrets in a request to an authorization server.
func sentSecrets(r *http.Request) []secret.Known {
	var values []string
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err == nil {
			sent, _ := io.ReadAll(body) // which is in memory
			form, _ := url.ParseQuery(string(sent))
			for _, name := range secretParams {
				values = append(values, form.Get(name))
			}
		}
	}
	_, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	_, escaped, _ := r.BasicAuth()
	password, _ := url.QueryUnescape(escaped) // RFC 6749, section 2.3.1
	var all []secret.Known
	for _, value := range append(values, credentials, escaped, password) {
		if value != "" {
			all = append(all, secret.Known{Value: value})
		}
	}
	return all
}

// oauthError returns the error of an authorization server in one line.
func oauthError(code, description string) error {
	if description == "" {
		return errors.New(clip(code, maxQuote))
	}
	return fmt.Errorf("%s (%s)", clip(description, maxQuote), clip(code, maxQuote))
}

// listener keeps the last answer to a request. go-sdk has its body only in the text of an error.
type listener struct {
	base     http.RoundTripper
	response *http.Response
	body     bytes.Buffer
}

// RoundTrip implements [http.RoundTripper].
func (l *listener) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.base.RoundTrip(r)
	if err == nil {
		l.response, response.Body = response, limited{io.TeeReader(response.Body, &l.body), response.Body}
	}
	return response, err
}
