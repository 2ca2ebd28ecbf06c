package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/rs/zerolog"

	"assent/sidecar/daemon"
	"assent/sidecar/daemon/workspaces"
)

// dialFollowing connects with a workspace in the daemon, and writes the lines of the workspace that have at least the place's
// level. The daemon's own log has those of the level "info" in any case. To close the connection writes the last of them.
func dialFollowing(ctx context.Context, o daemon.Options, place workspaces.Place, log io.Writer) (net.Conn, daemon.Welcome, error) {
	level := place.LogLevel
	place.LogLevel = min(level, zerolog.InfoLevel)
	o, err := withPlace(o, place)
	if err != nil {
		return nil, daemon.Welcome{}, err
	}
	if level == zerolog.Disabled {
		return daemon.Dial(ctx, o)
	}
	end, err := daemon.FollowLog(o.Address, &workspaceLines{w: log, workspace: place.Name(), level: level})
	if err != nil {
		return nil, daemon.Welcome{}, err
	}
	conn, welcome, err := daemon.Dial(ctx, o)
	if err != nil {
		return nil, welcome, errors.Join(err, end())
	}
	return &followedConn{conn, sync.OnceValue(func() error { return errors.Join(conn.Close(), end()) })}, welcome, nil
}

// followedConn is a connection to a workspace that also writes the workspace's log lines.
type followedConn struct {
	net.Conn
	end func() error
}

// Close implements [io.Closer].
func (c *followedConn) Close() error { return c.end() }

// CloseWrite says that no more comes. The other end may still send.
func (c *followedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// workspaceLines writes the lines of one workspace out of the daemon's log.
type workspaceLines struct {
	w         io.Writer
	workspace string
	level     zerolog.Level
	rest      []byte // the beginning of a line
}

// Write implements [io.Writer].
func (l *workspaceLines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		end := bytes.IndexByte(l.rest, '\n') + 1
		if end == 0 {
			return len(b), nil
		}
		line := l.rest[:end]
		l.rest = l.rest[end:]
		var of struct {
			Workspace string        `json:"workspace"`
			Level     zerolog.Level `json:"level"`
		}
		if json.Unmarshal(line, &of) != nil || of.Workspace != l.workspace || of.Level < l.level {
			continue
		}
		if _, err := l.w.Write(line); err != nil {
			return 0, err
		}
	}
}
