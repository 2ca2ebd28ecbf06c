package nearest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/base/nearest"
)

func TestTheNearestNames(t *testing.T) {
	names := []string{"find_users", "delete_users", "count_users", "send_mail", "read_mail"}
	tests := []struct {
		wrong string
		want  []string
		sure  bool
	}{
		{"find_user", []string{"find_users"}, true},
		{"users", []string{"find_users", "count_users", "delete_users"}, true}, // a part of them
		{"MAIL", []string{"send_mail", "read_mail"}, true},
		{"xyzzy", []string{"send_mail", "read_mail", "find_users"}, false},
	}
	for _, tt := range tests {
		got, sure := nearest.Names(tt.wrong, names, 3)
		if diff := cmp.Diff(tt.want, got); diff != "" || sure != tt.sure {
			t.Errorf("Names(%q): sure %v (-want +got):\n%s", tt.wrong, sure, diff)
		}
	}
}
