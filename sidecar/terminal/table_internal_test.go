package terminal

import "testing"

func TestIDsAreAsShortAsTheyCanBeToldApartBy(t *testing.T) {
	list := table{columns: []column{{header: "id", ids: true}, {header: "state"}}}
	for _, id := range []string{"job-1", "786512e2-aaaa-4", "786512e2-aabb-4", "0123456789", "aaaaaaaé9", "aaaaaaaé9"} {
		list.rows = append(list.rows, []string{id, "open"})
	}
	want := "" +
		"ID            STATE\n" +
		"job-1         open\n" +
		"786512e2-aaa  open\n" +
		"786512e2-aab  open\n" +
		"01234567      open\n" +
		"aaaaaaaé      open\n" +
		"aaaaaaaé      open\n"
	if got := list.drawn(80, false); got != want {
		t.Errorf("the terminal gets\n%s\nwant\n%s", got, want)
	}
	want = "job-1\topen\n786512e2-aaaa-4\topen\n786512e2-aabb-4\topen\n0123456789\topen\naaaaaaaé9\topen\naaaaaaaé9\topen\n"
	if got := list.lines(); got != want {
		t.Errorf("a pipe gets\n%s\nwant\n%s", got, want)
	}
}
