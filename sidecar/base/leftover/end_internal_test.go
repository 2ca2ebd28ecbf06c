package leftover

import (
	"slices"
	"testing"

	"assent/sidecar/base/procinfo"
)

func TestTheProofOfARunsProcesses(t *testing.T) {
	const init, shell, server, child, apart, editor, window, nested, other = 1, 10, 20, 21, 22, 30, 31, 32, 40
	marked := func(pid, parent int) procinfo.Running {
		return procinfo.Running{PID: pid, Parent: parent, Group: pid, Start: "1", Marked: true}
	}
	plain := func(pid, parent, group int, start string) procinfo.Running {
		return procinfo.Running{PID: pid, Parent: parent, Group: group, Start: start}
	}
	for _, tt := range []struct {
		name    string
		servers map[int]string
		running []procinfo.Running
		owners  []int
		want    []int
		spared  bool
	}{
		{
			name:    "what has the token, whoever its parent is",
			running: []procinfo.Running{plain(shell, init, shell, "1"), marked(server, init), marked(child, server), marked(apart, init)},
			want:    []int{server, child, apart},
		},
		{
			name:    "a server that was noted, and its group",
			servers: map[int]string{server: "1"},
			running: []procinfo.Running{plain(server, init, server, "1"), plain(child, server, server, "2"), plain(apart, server, apart, "2")},
			want:    []int{server, child},
		},
		{
			name:    "nobody who has a server's id by now",
			servers: map[int]string{server: "1"},
			running: []procinfo.Running{plain(server, init, server, "2"), plain(child, server, server, "2")},
		},
		{
			name:    "nobody of a group whose leader is gone",
			servers: map[int]string{server: "1"},
			running: []procinfo.Running{plain(child, init, server, "2")},
		},
		{
			name: "not the tree of a living run that a server began",
			running: []procinfo.Running{
				marked(server, init), marked(editor, init), marked(window, editor), marked(nested, editor), marked(apart, nested),
			},
			owners: []int{nested},
			want:   []int{server},
			spared: true,
		},
		{
			name:    "not the tree of a living run that dropped its environment",
			running: []procinfo.Running{marked(server, init), marked(editor, init), plain(shell, editor, shell, "1"), plain(nested, shell, nested, "1")},
			owners:  []int{nested},
			want:    []int{server},
			spared:  true,
		},
		{
			name:    "though a living run is elsewhere",
			running: []procinfo.Running{marked(server, init), plain(other, init, other, "1")},
			owners:  []int{other, 99},
			want:    []int{server},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []int
			left, spared := record{servers: tt.servers}.proven(tt.running, tt.owners)
			for _, p := range left {
				got = append(got, p.PID)
			}
			if !slices.Equal(got, tt.want) || spared != tt.spared {
				t.Errorf("proven = %v, %v, want %v, %v", got, spared, tt.want, tt.spared)
			}
		})
	}
}
