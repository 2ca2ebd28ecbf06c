package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"assent/protocol"
)

// The references on Node.js, as scripts/bench/hosts describes them.
const (
	promiseHost = "promiseHost"
	pollingHost = "pollingHost"
)

// What the table calls them.
const (
	promiseName = "promise host"
	pollingName = "polling host"
)

// hostCommand is the process of one.
func (b *bench) hostCommand(name string) (*exec.Cmd, error) {
	if b.hosts == "" {
		return nil, errors.New("the hosts on Node.js are bundled by `npm run bench`: run that, or pass -hosts and -node")
	}
	cmd := b.command(b.node, filepath.Join(b.hosts, name+".cjs"))
	cmd.Stderr = os.Stderr // shows its errors
	return cmd, nil
}

// startHost starts a host and shakes hands.
func (b *bench) startHost(servers map[string]any, name string) (*frontEnd, error) {
	cmd, err := b.hostCommand(name)
	if err != nil {
		return nil, err
	}
	configured, err := json.Marshal(servers)
	if err != nil {
		return nil, err
	}
	f, err := attach(cmd)
	if err != nil {
		return nil, err
	}
	err = f.Call("initialize", protocol.InitializeParams{Configuration: protocol.Configuration{Servers: configured}}, nil)
	return f, err
}

// withHost runs f with a host and ends it.
func (b *bench) withHost(servers map[string]any, f func(*frontEnd) error, name string) error {
	fe, err := b.startHost(servers, name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := errors.Join(f(fe), fe.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// rawServers configures the cheapest servers there are.
func (b *bench) rawServers(n int) map[string]any {
	servers := map[string]any{}
	for i := range n {
		servers[fmt.Sprint("raw", i)] = map[string]any{
			"command": b.self, "args": []string{rawServerCommand}, "protocolVersion": "2025-11-25",
		}
	}
	return servers
}
