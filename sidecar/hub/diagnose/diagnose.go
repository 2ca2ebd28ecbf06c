// Package diagnose explains why a server does not start, and collects the known facts about it.
//
// It only reads values: a [Snapshot] of a server, a [Failure] of its last connection, and the state of this machine. It
// starts no process except the login shell, asks no person, and knows no connection. A [LogTail] and all functions may
// be used from any goroutine, if the caller does not change the values during a call.
package diagnose

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/base/procinfo"
	"assent/sidecar/base/reason"
	"assent/sidecar/config"
	"assent/sidecar/wire"
)

// Failure is how a connection failed.
type Failure struct {
	At  time.Time
	Err error
	// Established: the connection had been ready.
	Established bool
	// ExitCode is nil if no process ended by itself.
	ExitCode *int64
	// Stderr holds the last lines on stderr, and Stray the first messages that were not MCP. Both are plain text.
	Stderr, Stray []string
}

// NewFailure returns how a connection failed with err. exitCode returns that of the server's process, and may be nil. It is
// ignored if Assent gave the process up, because that process exits when its stdin is closed.
func NewFailure(err error, established bool, stderr, stray []string, exitCode func() (code int, ok bool)) *Failure {
	f := &Failure{At: time.Now(), Err: err, Established: established, Stderr: plainLines(stderr), Stray: plainLines(stray)}
	givenUp := errors.As(err, new(wire.TimeoutError)) || errors.Is(err, wire.ErrRefused) || errors.Is(err, wire.ErrVersion) ||
		errors.As(err, new(*wire.UnreadableError))
	if !givenUp && exitCode != nil {
		if code, ok := exitCode(); ok {
			code := int64(code)
			f.ExitCode = &code
		}
	}
	return f
}

// Snapshot holds the known facts about a server at one moment.
type Snapshot struct {
	Config config.Server
	Server protocol.Server
	// Handshake is that of the last connection; nil before the first.
	Handshake   *wire.Handshake
	Connections []protocol.ServerConnection
	Calls       []protocol.ServerCall
	// Counts holds how long the lists were when they were last read.
	Counts map[protocol.ListKind]int64
	// Failure is the last one, or nil.
	Failure *Failure
	Log     *LogTail
}

// Machine is this machine, on which servers start.
type Machine struct {
	// Environment is that in which servers start.
	Environment config.Environment
	Log         zerolog.Logger
}

// Inspect returns the known facts about a server, and why it does not start. Facts that are not in the snapshot are
// left empty: the titles of conversations and their asks. The result may contain secrets.
func (m Machine) Inspect(ctx context.Context, s Snapshot) *protocol.ServerInspection {
	result := &protocol.ServerInspection{
		Line: config.Line(s.Config.Source, s.Config.NameInSource()), Warnings: append(config.UnknownMembers(s.Config.Source, s.Config.NameInSource()), s.Config.Warnings(m.Environment)...),
		Server: s.Server, Connections: s.Connections, Calls: s.Calls,
	}
	var launch config.Launch
	if s.Config.Transport == protocol.TransportStdio {
		launch = s.Config.Launch(ctx, m.Environment)
		result.Launch = &launch.Shown
	} else {
		result.Endpoint = shownEndpoint(s.Config)
	}
	result.Log, result.LogDropped = s.Log.last()
	if s.Handshake != nil {
		result.Handshake = Handshake(s.Handshake)
	}
	for kind, to := range map[protocol.ListKind]**int64{
		protocol.ListTools: &result.Counts.Tools, protocol.ListResources: &result.Counts.Resources, protocol.ListPrompts: &result.Counts.Prompts,
	} {
		if n, ok := s.Counts[kind]; ok {
			*to = &n
		}
	}
	if f := s.Failure; f != nil {
		result.LastFailure = &protocol.ServerFailure{
			At: f.At.UnixMilli(), Reason: plain(reason.Of(f.Err)), ExitCode: f.ExitCode, Stderr: f.Stderr, Stdout: f.Stray,
		}
	}
	result.Server.Reason, result.Server.Stderr = plain(result.Server.Reason), plainLines(result.Server.Stderr)
	own := map[int64]bool{}
	for _, c := range result.Connections {
		own[c.PID] = true
	}
	m.lookAround(s.Config, launch, s.Failure, own, result)
	result.Verdict = verdictOf(situation{
		config: s.Config, server: result.Server, launch: launch, failure: s.Failure,
		ports: result.Ports, orphans: result.Orphans,
	})
	return result
}

// Explain returns the text of the verdict on a server that failed: a sentence on why it does not run. It may quote the
// server.
func (m Machine) Explain(ctx context.Context, c config.Server, f *Failure) string {
	now := situation{config: c, server: protocol.Server{State: protocol.ServerFailed}, failure: f}
	var missing *config.NotFoundError
	switch {
	case isLaunch(f.Err):
		now.launch.Err = f.Err
		if errors.As(f.Err, &missing) {
			now.launch.Shown.NearMisses = missing.NearMisses
		}
	case c.Transport == protocol.TransportStdio:
		now.launch = c.Launch(ctx, m.Environment)
	}
	now.ports = m.portUses(c, f, nil, new(protocol.ServerInspection))
	return verdictOf(now).Text // never nil for a server that failed
}

// lookAround finds out who is in the server's way on this machine.
func (m Machine) lookAround(c config.Server, launch config.Launch, f *Failure, own map[int64]bool, result *protocol.ServerInspection) {
	result.Ports = m.portUses(c, f, own, result)
	if launch.Argv == nil {
		return
	}
	left, err := procinfo.Orphans(launch.Argv)
	if m.unknown(err, result) {
		return
	}
	for _, p := range left {
		if shown := shownProcess(p, own); !shown.Own {
			result.Orphans = append(result.Orphans, shown)
		}
	}
}

// portUses returns which processes listen on the ports that a server wants.
func (m Machine) portUses(c config.Server, f *Failure, own map[int64]bool, result *protocol.ServerInspection) (uses []protocol.PortUse) {
	for _, port := range portsOf(c, f) {
		listening, by, err := procinfo.Listeners(port)
		if m.unknown(err, result) {
			continue
		}
		use := protocol.PortUse{Port: int64(port), Listening: listening}
		for _, p := range by {
			use.By = append(use.By, shownProcess(p, own))
		}
		uses = append(uses, use)
	}
	return uses
}

func (m Machine) unknown(err error, result *protocol.ServerInspection) bool {
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		m.Log.Warn().Err(err).Msg("looking at what else runs on this machine")
	}
	result.MachineUnknown = result.MachineUnknown || err != nil
	return err != nil
}

func shownProcess(p procinfo.Process, own map[int64]bool) protocol.ServerProcess {
	shown := protocol.ServerProcess{PID: int64(p.PID), Name: plain(Clip(p.Name, maxName)), Own: own[int64(p.PID)]}
	if !p.Since.IsZero() {
		shown.Since = p.Since.UnixMilli()
	}
	return shown
}
