package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/base/jsonscan"
)

// The revisions of the specification, and the boundary between its eras. A modern server needs no
// handshake and puts its questions into results; a legacy one is initialized and sends requests.
const (
	ModernVersion = "2026-07-28"
	LegacyVersion = "2025-11-25"
)

// legacyVersions are the versions that initialize may negotiate.
var legacyVersions = []string{LegacyVersion, "2025-06-18", "2025-03-26", "2024-11-05"}

// ProbeTimeout is how long Shake waits for an answer to server/discover before it also sends initialize.
const ProbeTimeout = 3 * time.Second

// PatientProbeTimeout replaces ProbeTimeout for a server that was modern at its last start, and for one over HTTP: a legacy
// server answers there at once that it does not know the method, and a modern one on a busy machine may be slow.
const PatientProbeTimeout = 15 * time.Second

// ProbeGrace is how long Shake still waits for an answer to server/discover when initialize is answered. A server that
// starts slowly finds both in its input. If it speaks both eras, it answers both, and is modern.
const ProbeGrace = 250 * time.Millisecond

// modernErrors are the codes that only modern servers use.
var modernErrors = []int64{codeHeaderMismatch, codeMissingCapability, codeUnsupportedVersion}

const (
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

// Era is one of the two families of revisions of MCP. See [ModernVersion].
type Era string

// The eras.
const (
	// EraUnknown: [Conn.Shake] detects it.
	EraUnknown Era = ""
	EraModern  Era = "modern"
	EraLegacy  Era = "legacy"
)

// Introduction is the client's part of a handshake.
type Introduction struct {
	// Name and Version are the client's name and version.
	Name, Version string
	// Modern and Legacy are the client's capabilities in each era.
	Modern, Legacy json.RawMessage
}

// Handshake is the server's part of a handshake.
type Handshake struct {
	Era Era
	// Version is the revision that both sides speak.
	Version string
	// Result is the DiscoverResult or the InitializeResult.
	Result json.RawMessage
	// AlsoModern: the server speaks both eras, and this connection is a legacy one because the server answered slowly.
	AlsoModern bool
}

// ofBoth marks a legacy handshake as that of a server that is modern, too.
func (h *Handshake) ofBoth() *Handshake {
	h.AlsoModern = h.Era == EraLegacy
	return h
}

// ErrProbe says that the server ended when it received server/discover. The caller starts it again and calls Shake
// with [EraLegacy].
var ErrProbe = errors.New("the server ended when it was asked for its protocol version")

// Shake detects the server's era, unless it is known, and does the handshake of that era. Call it before go-sdk gets
// the connection: the Conn then answers go-sdk's own handshake.
//
// The probe is that of 2026-07-28, "stdio: Backward Compatibility". Shake sends server/discover. It sends initialize after
// any error that a modern server would not return, or after [ProbeTimeout], for a modern server [PatientProbeTimeout]. A
// slow modern server can still answer server/discover then.
//
// After a response that matches no request, Shake waits only [UnmatchedTimeout] for one that does, and returns an
// [UnreadableError]. Other errors are [ErrProbe], [ErrRefused], [ErrVersion] and the cause of ctx.
func (c *Conn) Shake(ctx context.Context, who Introduction, known Era) (*Handshake, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.mu.Lock()
	c.shaking = cancel
	c.mu.Unlock()
	h, err := c.shake(ctx, who, known)
	c.forgetUnmatched()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shaking = nil
	if errors.As(err, new(*UnreadableError)) {
		return nil, fmt.Errorf("its answer to the handshake cannot be used: %w", err)
	}
	if err != nil {
		return nil, err
	}
	c.handshake = h
	return h, nil
}

// recordUnmatched records a response that matches no request during the handshake.
func (c *Conn) recordUnmatched(why *UnreadableError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shaking != nil && c.unmatchedTimer == nil {
		cancel := c.shaking
		c.unmatchedTimer = time.AfterFunc(UnmatchedTimeout, func() { cancel(why) })
	}
}

// forgetUnmatched undoes recordUnmatched.
func (c *Conn) forgetUnmatched() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unmatchedTimer != nil {
		c.unmatchedTimer.Stop()
		c.unmatchedTimer = nil
	}
}

// UnmatchedTimeout is how long a handshake continues after a response that matches no request.
const UnmatchedTimeout = 5 * time.Second

// ErrRefused says that the server answered initialize with an error.
var ErrRefused = errors.New("it refused the handshake")

type shaken struct {
	handshake *Handshake
	err       error
}

func (c *Conn) shake(ctx context.Context, who Introduction, known Era) (*Handshake, error) {
	if known == EraLegacy {
		return c.initialize(ctx, who)
	}
	ctx, cancel := context.WithCancel(ctx)
	var halves sync.WaitGroup
	defer halves.Wait()
	defer cancel() // ends the request without an answer
	try := func(half func(context.Context, Introduction) (*Handshake, error)) <-chan shaken {
		done := make(chan shaken, 1)
		halves.Go(func() {
			h, err := half(ctx, who)
			done <- shaken{h, err}
		})
		return done
	}
	discovered := try(c.discover)
	limit := ProbeTimeout
	if known == EraModern {
		limit = PatientProbeTimeout
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case d := <-discovered:
		switch {
		case d.err == nil || isModern(d.err):
			return d.handshake, d.err
		case c.Err() != nil:
			return nil, fmt.Errorf("%w: %w", ErrProbe, d.err)
		case ctx.Err() != nil:
			return nil, d.err
		}
		return c.initialize(ctx, who)
	case <-timeout.C:
	}
	initialized := try(c.initialize)
	var legacy, modern *Handshake
	var confirmed <-chan shaken
	var grace, probeLimit <-chan time.Time
	for {
		select {
		case d := <-discovered:
			switch discovered = nil; {
			case d.err == nil && d.handshake.Era == EraModern && (initialized != nil || legacy != nil):
				// With the TypeScript SDK, initialize makes the connection a legacy one, although the server has answered
				// server/discover: only a second answer shows that it is modern.
				modern, confirmed, probeLimit, grace = d.handshake, try(c.discover), time.After(ProbeTimeout), nil
			case d.err == nil:
				return d.handshake, nil
			case legacy != nil:
				return legacy, nil
			} // else the answer to initialize decides
		case d := <-confirmed:
			switch confirmed = nil; {
			case d.err == nil || c.Err() != nil:
				return d.handshake, d.err
			case legacy != nil:
				return legacy.ofBoth(), nil
			} // else the answer to initialize decides
		case <-probeLimit:
			return modern, nil
		case i := <-initialized:
			initialized = nil
			switch {
			case c.Err() != nil, ctx.Err() != nil, discovered == nil && modern == nil:
				return i.handshake, i.err
			case i.err != nil && modern != nil:
				return modern, nil
			case i.err != nil: // a modern server refuses initialize, and can still answer server/discover
			case modern != nil && confirmed == nil:
				return i.handshake.ofBoth(), nil
			case modern != nil:
				legacy = i.handshake
			default:
				legacy, grace = i.handshake, time.After(ProbeGrace)
			}
		case <-grace:
			return legacy, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if discovered == nil && initialized == nil && confirmed == nil {
			return nil, errors.New("it answered neither server/discover nor initialize")
		}
	}
}

// Discover sends server/discover to a modern server, before or after the handshake. The errors are those of [Conn.Shake].
func (c *Conn) Discover(ctx context.Context, who Introduction) (*Handshake, error) {
	return c.discover(ctx, who)
}

// errNoDiscovery is the error for a result that is not a DiscoverResult. Some legacy servers return a result to every
// method.
var errNoDiscovery = errors.New("it answered server/discover with something else")

func (c *Conn) discover(ctx context.Context, who Introduction) (*Handshake, error) {
	ask := func() (json.RawMessage, error) {
		return c.Call(ctx, "server/discover", map[string]any{"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    ModernVersion,
			"io.modelcontextprotocol/clientInfo":         map[string]string{"name": who.Name, "version": who.Version},
			"io.modelcontextprotocol/clientCapabilities": who.Modern,
		}})
	}
	result, err := ask()
	if slices.Contains(supportedVersions(err), ModernVersion) {
		// It refused a version that it claims to support (2026-07-28, "Protocol Version Negotiation": the client
		// chooses one of these, and retries).
		result, err = ask()
	}
	if err != nil {
		return nil, explainVersions(err)
	}
	result = c.mended(result)
	var discovered struct {
		SupportedVersions []string `json:"supportedVersions"`
	}
	if err := jsonscan.Unmarshal(result, &discovered); err != nil || len(discovered.SupportedVersions) == 0 {
		return nil, errNoDiscovery
	}
	if !slices.Contains(discovered.SupportedVersions, ModernVersion) {
		if slices.ContainsFunc(discovered.SupportedVersions, isLegacyVersion) {
			return c.initialize(ctx, who)
		}
		return nil, versionError(discovered.SupportedVersions)
	}
	return &Handshake{Era: EraModern, Version: ModernVersion, Result: result}, nil
}

func isLegacyVersion(v string) bool { return slices.Contains(legacyVersions, v) }

// ErrVersion says that the server speaks no revision of MCP that Assent speaks.
var ErrVersion = errors.New("no revision of MCP in common")

// unsupportedError is an [ErrVersion] with the versions that the server speaks.
type unsupportedError struct{ versions []string }

func (e unsupportedError) Error() string {
	return fmt.Sprintf("it speaks MCP %s only, and Assent %s", strings.Join(e.versions, ", "),
		strings.Join(append([]string{ModernVersion}, legacyVersions...), ", "))
}

// Is makes it an [ErrVersion].
func (e unsupportedError) Is(target error) bool { return target == ErrVersion }

func versionError(versions []string) error { return unsupportedError{versions} }

// explainVersions returns a modern server's refusal of our version as an [ErrVersion], and other errors unchanged.
func explainVersions(err error) error {
	versions := supportedVersions(err)
	if len(versions) == 0 || slices.ContainsFunc(versions, isLegacyVersion) {
		return err // initialize can be tried
	}
	return versionError(versions)
}

// supportedVersions returns the versions in a modern server's refusal of our version.
func supportedVersions(err error) []string {
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != codeUnsupportedVersion {
		return nil
	}
	return offeredVersions(e)
}

// offeredVersions returns the versions that a refusal names (2025-11-25, "Lifecycle: Error Handling").
func offeredVersions(e *jsonrpc.Error) []string {
	var data struct {
		Supported []string `json:"supported"`
	}
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &data) != nil {
		return nil
	}
	return slices.DeleteFunc(data.Supported, func(version string) bool { return version == "" })
}

// isModern reports whether only a modern server returns such an error.
func isModern(err error) bool {
	var e *jsonrpc.Error
	return errors.As(err, new(unsupportedError)) ||
		errors.As(err, &e) && slices.Contains(modernErrors, e.Code) && e.Code != codeUnsupportedVersion
}

// mended repairs the answer to the handshake with [Mend]. It logs each problem.
func (c *Conn) mended(result json.RawMessage) json.RawMessage {
	result, problems := Mend(result)
	for _, problem := range problems {
		c.opts.Log.Warn().Str("problem", problem).Msg("the server's answer to the handshake is odd")
	}
	return result
}

// Offered returns the version that a server offers as it refuses initialize in another one, if Assent speaks it. Else the
// error is an [ErrVersion] or [ErrRefused]. A second offer is not followed.
func Offered(refusal *jsonrpc.Error, version string) (string, error) {
	offered := offeredVersions(refusal)
	switch i := slices.IndexFunc(offered, isLegacyVersion); {
	case i >= 0 && version == LegacyVersion && offered[i] != version:
		return offered[i], nil
	case i < 0 && len(offered) > 0 && !slices.Contains(offered, ModernVersion):
		return "", versionError(offered)
	}
	return "", fmt.Errorf("%w: %s (%d)", ErrRefused, refusal.Message, refusal.Code)
}

// initialize does the handshake with a legacy server, except notifications/initialized, which go-sdk sends.
func (c *Conn) initialize(ctx context.Context, who Introduction) (*Handshake, error) {
	return c.initializeIn(ctx, who, LegacyVersion)
}

// initializeIn is initialize with a version. If the server refuses it and names one that Assent speaks, that is tried.
func (c *Conn) initializeIn(ctx context.Context, who Introduction, version string) (*Handshake, error) {
	c.forgetUnmatched() // it came before initialize, so it belongs to server/discover
	result, err := c.Call(ctx, "initialize", map[string]any{
		"protocolVersion": version,
		"capabilities":    who.Legacy,
		"clientInfo":      map[string]string{"name": who.Name, "version": who.Version},
	})
	if err != nil {
		var e *jsonrpc.Error
		if !errors.As(err, &e) {
			return nil, err
		}
		offered, err := Offered(e, version)
		if err != nil {
			return nil, err
		}
		return c.initializeIn(ctx, who, offered)
	}
	result = c.mended(result)
	if err := VersionProblem(result); err != nil {
		return nil, err
	}
	version = jsonscan.Text(bytes.TrimSpace(result), "protocolVersion")
	if !isLegacyVersion(version) {
		return nil, versionError([]string{version})
	}
	return &Handshake{Era: EraLegacy, Version: version, Result: result}, nil
}

// shaken returns the answer to go-sdk's handshake, if Shake has done one, and nil otherwise.
func (c *Conn) shaken(r *jsonrpc.Request) jsonrpc.Message {
	if r.Method != "initialize" && r.Method != "server/discover" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handshake == nil {
		return nil
	}
	return &jsonrpc.Response{ID: r.ID, Result: c.handshake.Result}
}

// TimeoutError says that a server did not answer the handshake in time.
type TimeoutError struct{ After time.Duration }

func (e TimeoutError) Error() string {
	return fmt.Sprintf("it did not answer the handshake within %v", e.After.Round(time.Millisecond))
}
