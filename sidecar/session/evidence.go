package session

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/diagnose"
	"assent/sidecar/jsonscan"
)

// maxStray is how many lines that are not MCP are kept of a connection.
const maxStray = 5

// noteReady notes that the connection is ready.
func (c *Conn) noteReady() {
	c.evidence.mu.Lock()
	defer c.evidence.mu.Unlock()
	c.evidence.since = time.Now()
}

// wasReady reports whether the connection was ready at any time.
func (c *Conn) wasReady() bool {
	c.evidence.mu.Lock()
	defer c.evidence.mu.Unlock()
	return !c.evidence.since.IsZero()
}

// shown returns a ready connection for the page of its server.
func (c *Conn) shown() protocol.ServerConnection {
	c.evidence.mu.Lock()
	defer c.evidence.mu.Unlock()
	shown := protocol.ServerConnection{TaskID: c.Ledger.TaskID(), Since: c.evidence.since.UnixMilli()}
	if c.link.pid != nil {
		shown.PID = int64(c.link.pid())
	}
	return shown
}

// stray handles a frame that is not JSON-RPC: it keeps the beginning.
func (c *Conn) stray(data []byte) {
	text := strings.TrimRight(string(data[:min(len(data), diagnose.MaxLine)]), "\r\n")
	c.server.logTail.Add(protocol.LogStdout, "", text)
	c.evidence.mu.Lock()
	if len(c.evidence.strayed) < maxStray {
		c.evidence.strayed = append(c.evidence.strayed, text)
	}
	c.evidence.mu.Unlock()
	c.log.sampled.Warn().Bytes("data", data[:min(len(data), 200)]).Msg("dropped what the server sent and is not JSON-RPC")
}

// noteFailure keeps how a connection ended by itself, and returns a sentence on why. The list of servers, the page of
// one, a conversation and a terminal all show it.
func (s *Server) noteFailure(ctx context.Context, c *Conn, err error, stderr []string) string {
	var exitCode func() (int, bool)
	if c.link != nil {
		exitCode = c.link.exitCode
	}
	c.evidence.mu.Lock()
	f := diagnose.NewFailure(err, !c.evidence.since.IsZero(), stderr, c.evidence.strayed, exitCode)
	c.evidence.mu.Unlock()
	s.mu.Lock()
	s.last.shown = f
	s.mu.Unlock()
	sentence := s.dialer.Machine().Explain(ctx, s.config, f)
	if redact := s.dialer.opts.Redact; redact != nil {
		sentence = redact(sentence)
	}
	return sentence
}

// logged handles a message for the log (2025-11-25, "Logging"). It ignores one that cannot be read or has no data.
func (c *Conn) logged(params json.RawMessage) {
	var m struct {
		Level  string          `json:"level"`
		Logger string          `json:"logger"`
		Data   json.RawMessage `json:"data"`
	}
	if jsonscan.Unmarshal(params, &m) != nil || m.Data == nil {
		return
	}
	c.server.logTail.AddMessage(m.Level, m.Logger, m.Data)
	c.log.sampled.WithLevel(logLevel(m.Level)).Str("logger", diagnose.Clip(m.Logger, diagnose.MaxLine)).Interface("data", m.Data).Msg("server log")
}

// logLevel returns the level of zerolog that is nearest to one of syslog.
func logLevel(level string) zerolog.Level {
	switch level {
	case "debug":
		return zerolog.DebugLevel
	case "info", "notice":
		return zerolog.InfoLevel
	case "warning":
		return zerolog.WarnLevel
	default:
		return zerolog.ErrorLevel
	}
}

// SetLogLevel tells a legacy server which log messages are wanted, unless it knows. A server that does not log is left alone.
func (c *Conn) SetLogLevel(ctx context.Context, level string) {
	capabilities := c.session.InitializeResult().Capabilities
	if known := c.logLevel.Swap(&level); known != nil && *known == level || capabilities == nil || capabilities.Logging == nil {
		return
	}
	ctx, done := c.Within(ctx, "logging/setLevel")
	defer done()
	if _, err := c.Call(ctx, "logging/setLevel", map[string]string{"level": level}); err != nil {
		c.log.Debug().Err(err).Msg("the server did not take the log level")
	}
}
