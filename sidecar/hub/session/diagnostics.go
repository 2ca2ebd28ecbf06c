package session

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/hub/diagnose"
)

// maxStray bounds how many lines that are not MCP a connection keeps.
const maxStray = 5

// recordReady records when the connection became ready.
func (c *Conn) recordReady() {
	c.diagnostics.mu.Lock()
	defer c.diagnostics.mu.Unlock()
	c.diagnostics.since = time.Now()
}

// wasReady reports whether the connection was ever ready.
func (c *Conn) wasReady() bool {
	c.diagnostics.mu.Lock()
	defer c.diagnostics.mu.Unlock()
	return !c.diagnostics.since.IsZero()
}

// shown describes a ready connection for the page of its server.
func (c *Conn) shown() protocol.ServerConnection {
	c.diagnostics.mu.Lock()
	defer c.diagnostics.mu.Unlock()
	shown := protocol.ServerConnection{TaskID: c.Ledger.TaskID(), Since: c.diagnostics.since.UnixMilli()}
	if c.link.pid != nil {
		shown.PID = int64(c.link.pid())
	}
	return shown
}

// stray handles a frame that is not JSON-RPC: it logs and keeps the beginning of the frame.
func (c *Conn) stray(data []byte) {
	text := strings.TrimRight(string(data[:min(len(data), diagnose.MaxLine)]), "\r\n")
	c.server.logTail.Add(protocol.LogStdout, "", text)
	c.diagnostics.mu.Lock()
	if len(c.diagnostics.strayed) < maxStray {
		c.diagnostics.strayed = append(c.diagnostics.strayed, text)
	}
	if c.diagnostics.since.IsZero() && len(c.diagnostics.strayed) == 1 {
		time.AfterFunc(startPause, c.tellStart) // it does nothing once the start is over
	}
	c.diagnostics.mu.Unlock()
	said := text
	if redact := c.server.dialer.opts.Redact; redact != nil {
		said = redact(said)
	}
	c.server.handler.Strayed(c.Ledger.TaskID(), said)
	c.log.sampled.Warn().Bytes("data", data[:min(len(data), 200)]).Msg("dropped a message of the server that is not JSON-RPC")
}

// startPause is how long a start goes on after a frame that is not MCP before those who wait hear of it: most servers that
// write such lines start all the same.
const startPause = 3 * time.Second

// maxStartQuote bounds what those who wait for a start read of such frames, in characters.
const maxStartQuote = 160

// tellStart says in the server's state what came in place of the answer to the handshake. A terminal that waits for a list
// shows that.
func (c *Conn) tellStart() {
	if isClosed(c.ready) {
		return
	}
	c.diagnostics.mu.Lock()
	wrote := strings.Join(strings.Fields(strings.Join(c.diagnostics.strayed, " ")), " ")
	c.diagnostics.mu.Unlock()
	if redact := c.server.dialer.opts.Redact; redact != nil {
		wrote = redact(wrote)
	}
	if runes := []rune(wrote); len(runes) > maxStartQuote {
		wrote = string(runes[:maxStartQuote]) + "…"
	}
	c.await("the result of the handshake, after it wrote something that is no whole MCP message: " + wrote)
	<-c.ready
	c.await("")
}

// recordFailure records the failure of a connection, and returns a sentence that explains it. The list of servers, the
// page of the server, conversations and terminals show the sentence.
func (s *Server) recordFailure(ctx context.Context, c *Conn, err error, stderr []string) string {
	var exitCode func() (int, bool)
	if c.link != nil {
		exitCode = c.link.exitCode
	}
	c.diagnostics.mu.Lock()
	f := diagnose.NewFailure(err, !c.diagnostics.since.IsZero(), stderr, c.diagnostics.strayed, exitCode)
	c.diagnostics.mu.Unlock()
	s.mu.Lock()
	s.last.shown = f
	s.mu.Unlock()
	sentence := s.dialer.Machine().Explain(ctx, s.config, f)
	if redact := s.dialer.opts.Redact; redact != nil {
		sentence = redact(sentence)
	}
	return sentence
}

// logged handles notifications/message (2025-11-25, "Logging"). It ignores a message that cannot be read or has no
// data.
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

// logLevel returns the zerolog level that is nearest to a syslog level.
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

// SetLogLevel sends logging/setLevel to a legacy server. It does nothing if the server has this level already or lacks
// the logging capability.
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
