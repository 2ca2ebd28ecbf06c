package main

import (
	"fmt"
	"time"

	"assent/protocol"
)

// connectServers is how many servers are connected at once.
const connectServers = 20

// connect measures from nothing to the lists of tools of servers over stdio, all at once. The servers are
// of raw JSON, and their start is in it.
func (b *bench) connect() ([]row, error) {
	servers := b.rawServers(connectServers)
	var took comparison
	for i := range b.rounds {
		err := b.withSidecar(b.roundDir("connect", i), servers, func(f *frontEnd) error {
			ms, err := f.listAll(servers)
			took.figure = append(took.figure, ms)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
		err = b.withHost(servers, func(f *frontEnd) error {
			ms, err := f.listAll(servers)
			took.reference = append(took.reference, ms)
			return err
		}, promiseHost)
		if err != nil {
			return nil, err
		}
	}
	return []row{{
		what: fmt.Sprintf("%d stdio servers connected and listed", connectServers), unit: "ms",
		figure: took.figure, reference: took.reference, referenceIs: promiseName,
	}}, nil
}

// listAll asks for the tools of all servers at once, and returns how many milliseconds the last one took.
func (f *frontEnd) listAll(servers map[string]any) (float64, error) {
	began := time.Now()
	for name := range servers {
		if _, err := f.Send("tools/list", protocol.ServerParams{ServerName: name}); err != nil {
			return 0, err
		}
	}
	for listed := 0; listed < len(servers); {
		m, err := f.read()
		if err != nil {
			return 0, fmt.Errorf("tools/list: %w", err)
		}
		if m.ID != nil {
			listed++
		}
	}
	return milliseconds(time.Since(began)), nil
}
