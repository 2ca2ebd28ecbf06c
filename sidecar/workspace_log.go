package main

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
	"assent/sidecar/workspaces"
)

// dialFollowing is dial for a front end that writes the lines of its workspace that have at least the place's level. The
// daemon's own log has those of the level "info" in any case. To close the connection writes the last of them.
func dialFollowing(ctx context.Context, place workspaces.Place, log io.Writer) (net.Conn, error) {
	level := place.LogLevel
	place.LogLevel = min(level, zerolog.InfoLevel)
	if level == zerolog.Disabled {
		return dial(ctx, place)
	}
	address, err := daemon.Locate()
	if err != nil {
		return nil, err
	}
	end, err := daemon.FollowLog(address, &workspaceLines{w: log, workspace: place.Name(), level: level})
	if err != nil {
		return nil, err
	}
	conn, err := dial(ctx, place)
	if err != nil {
		return nil, errors.Join(err, end())
	}
	return &followedConn{conn, sync.OnceValue(func() error { return errors.Join(conn.Close(), end()) })}, nil
}

// followedConn is a connection with a workspace whose log lines are written.
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
