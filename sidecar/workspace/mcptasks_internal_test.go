package workspace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUniqueMcpTask(t *testing.T) {
	a, ab, abc, other := mcpTaskName{"s", "a1"}, mcpTaskName{"s", "a1b2"}, mcpTaskName{"s", "a1b2c3"}, mcpTaskName{"t", "a1b2c3"}
	all := []mcpTaskName{a, ab, abc, other}
	for _, tt := range []struct {
		name, given string
		all         []mcpTaskName
		want        mcpTaskName
		err         string
	}{
		{name: "an id", given: "a1b2", all: all, want: ab},
		{name: "an id that others begin with", given: "a1", all: all, want: a},
		{name: "a beginning", given: "a1b2c", all: []mcpTaskName{a, ab, abc}, want: abc},
		{name: "a beginning of several", given: "a", all: []mcpTaskName{a, ab}, err: `2 MCP tasks have an id that begins with "a", such as a1 and a1b2`},
		{name: "an id of two servers", given: "a1b2c3", all: all, err: `several servers have an MCP task "a1b2c3"`},
		{name: "nothing", given: "b", all: all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := uniqueMcpTask(tt.given, tt.all)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(mcpTaskName{})); diff != "" {
				t.Errorf("uniqueMcpTask (-want +got):\n%s", diff)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("err = %v, want %q", err, tt.err)
			}
		})
	}
}
