package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The revisions of the specification, and the line between its eras: a modern server needs no
// handshake and puts its questions into results, a legacy one is initialized and sends requests.
const (
	ModernVersion = "2026-07-28"
	LegacyVersion = "2025-11-25"
)

// legacyVersions are those that an initialize may settle on.
var legacyVersions = []string{LegacyVersion, "2025-06-18", "2025-03-26", "2024-11-05"}

// ProbePatience is how long a server may be silent about server/discover before it is tried with
// initialize as well.
const ProbePatience = 3 * time.Second

// modernErrors are the codes that only a modern server gives.
var modernErrors = []int64{codeHeaderMismatch, codeMissingCapability, codeUnsupportedVersion}

const (
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

// Era is which of the two ways a server speaks.
type Era string

// The eras.
const (
	// EraUnknown is found out by asking.
	EraUnknown Era = ""
	EraModern  Era = "modern"
	EraLegacy  Era = "legacy"
)

// Introduction is what a server is told of its client.
type Introduction struct {
	// Name and Version are the client's own.
	Name, Version string
	// Capabilities are in the words of each era.
	Modern, Legacy json.RawMessage
}

// Handshake is what a server has said of itself.
type Handshake struct {
	Era Era
	// Version is the one that both sides speak from here on.
	Version string
	// Result is the DiscoverResult or the InitializeResult.
	Result json.RawMessage
}

// ErrProbe is the error of a server that ended when it was asked for its era. It has to be started
// again, and initialized.
var ErrProbe = errors.New("the server ended when it was asked for its protocol version")

// Shake finds out which era the server speaks, unless that is known, and shakes hands in it. It has
// to be called before the connection is given to go-sdk, whose own handshake is then answered from
// this one.
//
// The probe is that of 2026-07-28, "stdio: Backward Compatibility": server/discover, and initialize
// after any error that a modern server would not give, or after silence. A modern server that was
// merely slow can still answer.
//
// After a response that matches no request, Shake waits only [UnmatchedPatience] for one that does. The error is then
// an [UnreadableError].
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

// noteUnmatched notes a response that matches no request during the handshake.
func (c *Conn) noteUnmatched(why *UnreadableError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shaking != nil && c.unmatchedTimer == nil {
		cancel := c.shaking
		c.unmatchedTimer = time.AfterFunc(UnmatchedPatience, func() { cancel(why) })
	}
}

// forgetUnmatched forgets such a response.
func (c *Conn) forgetUnmatched() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unmatchedTimer != nil {
		c.unmatchedTimer.Stop()
		c.unmatchedTimer = nil
	}
}

// UnmatchedPatience is how long a server may be silent during a handshake after a response that matches no request.
const UnmatchedPatience = 5 * time.Second

// ErrRefused is the error of a server that does not shake hands.
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
	defer cancel() // of whichever is still waited for
	try := func(half func(context.Context, Introduction) (*Handshake, error)) <-chan shaken {
		done := make(chan shaken, 1)
		halves.Go(func() {
			h, err := half(ctx, who)
			done <- shaken{h, err}
		})
		return done
	}
	discovered := try(c.discover)
	patience := time.NewTimer(ProbePatience)
	defer patience.Stop()
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
	case <-patience.C:
	}
	initialized := try(c.initialize)
	for {
		select {
		case d := <-discovered:
			if d.err == nil {
				return d.handshake, nil
			}
			discovered = nil // the other one will tell
		case i := <-initialized:
			if i.err == nil || discovered == nil || c.Err() != nil || ctx.Err() != nil {
				return i.handshake, i.err
			}
			initialized = nil
			// A modern server refuses initialize, and has its say on discover yet to come.
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if discovered == nil && initialized == nil {
			return nil, errors.New("it answered neither server/discover nor initialize")
		}
	}
}

// Discover asks a modern server for itself, whether or not hands were shaken.
func (c *Conn) Discover(ctx context.Context, who Introduction) (*Handshake, error) {
	return c.discover(ctx, who)
}

// errNoDiscovery is the answer of a server that gives some result to whatever it does not know.
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
		// It refused the version that it asks for (2026-07-28, "Protocol Version Negotiation": choose one of
		// those, and retry).
		result, err = ask()
	}
	if err != nil {
		return nil, explainVersions(err)
	}
	var discovered struct {
		SupportedVersions []string `json:"supportedVersions"`
	}
	if err := json.Unmarshal(result, &discovered); err != nil || len(discovered.SupportedVersions) == 0 {
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

// ErrVersion is the error of a server that speaks no revision of ours.
var ErrVersion = errors.New("no revision of MCP in common")

// unsupportedError says that the server is modern and speaks no version of ours.
type unsupportedError struct{ versions []string }

func (e unsupportedError) Error() string {
	return fmt.Sprintf("it speaks MCP %s only, and Assent %s", strings.Join(e.versions, ", "),
		strings.Join(append([]string{ModernVersion}, legacyVersions...), ", "))
}

// Is makes it an [ErrVersion].
func (e unsupportedError) Is(target error) bool { return target == ErrVersion }

func versionError(versions []string) error { return unsupportedError{versions} }

// explainVersions turns a modern server's refusal of our version into words.
func explainVersions(err error) error {
	versions := supportedVersions(err)
	if len(versions) == 0 || slices.ContainsFunc(versions, isLegacyVersion) {
		return err // initialize can be tried
	}
	return versionError(versions)
}

// supportedVersions returns what a modern server that refused our version would take.
func supportedVersions(err error) []string {
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != codeUnsupportedVersion {
		return nil
	}
	var data struct {
		Supported []string `json:"supported"`
	}
	if json.Unmarshal(e.Data, &data) != nil {
		return nil
	}
	return data.Supported
}

// isModern reports whether an error can only be a modern server's.
func isModern(err error) bool {
	var e *jsonrpc.Error
	return errors.As(err, new(unsupportedError)) ||
		errors.As(err, &e) && slices.Contains(modernErrors, e.Code) && e.Code != codeUnsupportedVersion
}

// initialize shakes hands with a legacy server. What follows it, notifications/initialized, is
// go-sdk's to send.
func (c *Conn) initialize(ctx context.Context, who Introduction) (*Handshake, error) {
	c.forgetUnmatched() // what came was of server/discover
	result, err := c.Call(ctx, "initialize", map[string]any{
		"protocolVersion": LegacyVersion,
		"capabilities":    who.Legacy,
		"clientInfo":      map[string]string{"name": who.Name, "version": who.Version},
	})
	if err != nil {
		var e *jsonrpc.Error
		if errors.As(err, &e) {
			return nil, fmt.Errorf("%w: %s (%d)", ErrRefused, e.Message, e.Code)
		}
		return nil, err
	}
	var initialized struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(result, &initialized); err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	if !isLegacyVersion(initialized.ProtocolVersion) {
		return nil, versionError([]string{initialized.ProtocolVersion})
	}
	return &Handshake{Era: EraLegacy, Version: initialized.ProtocolVersion, Result: result}, nil
}

// shaken answers go-sdk's handshake from ours, where that was shaken.
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
