package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"

	"assent/protocol"
	"assent/sidecar/workspace/rpc/rpctest"
)

// frontEnd is a front end that answers every ask at once. It is used by one goroutine.
type frontEnd struct{ *rpctest.FrontEnd }

func (b *bench) command(name string, args ...string) *exec.Cmd {
	return exec.CommandContext(b.ctx, name, args...)
}

// attach starts a program that speaks on stdout as the sidecar does.
func attach(cmd *exec.Cmd) (*frontEnd, error) {
	f, err := rpctest.Start(cmd)
	return &frontEnd{f}, err
}

// startSidecar starts the real binary and shakes hands.
func (b *bench) startSidecar(dataDir string, servers map[string]any) (*frontEnd, error) {
	cmd := b.command(b.sidecar, "serve", "--standalone", "--data-dir", dataDir, "--log-level", "error")
	cmd.Env = append(os.Environ(), "ASSENT_DAEMON_DIR="+filepath.Join(dataDir, "daemon"))
	f, err := attach(cmd)
	if err != nil {
		return nil, err
	}
	return f, f.shakeHands(servers)
}

func (f *frontEnd) shakeHands(servers map[string]any) error {
	configured, err := json.Marshal(servers)
	if err != nil {
		return err
	}
	return f.Call("initialize", protocol.InitializeParams{
		ProtocolVersion: protocol.Version,
		ClientInfo:      protocol.Implementation{Name: "bench", Version: "1"},
		Capabilities:    protocol.FrontEndCapabilities{Elicitation: true, Sampling: true},
		Configuration: protocol.Configuration{
			Servers: configured, Sampling: &protocol.SamplingSettings{Review: protocol.ReviewNever},
			Elicitation: &protocol.ElicitationSettings{MaxOpen: new(int64(1 << 20))},
		},
	}, nil)
}

// read returns the next message. A refusal is an error.
func (f *frontEnd) read() (*rpctest.Message, error) {
	m, err := f.Next()
	if err == nil && m.Error != nil {
		err = m.Error
	}
	return m, err
}
