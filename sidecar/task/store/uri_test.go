package store_test

import (
	"testing"

	"assent/sidecar/task/store"
)

// SQLite reads what stands between the second and the third slash as a host, and ? and # as the end of the path.
func TestTheURIOfAStore(t *testing.T) {
	for path, want := range map[string]string{
		"/home/ada/assent.db":         "file:///home/ada/assent.db",
		"C:/Users/ada/assent.db":      "file:///C:/Users/ada/assent.db",
		"//server/share/x/assent.db":  "file:////server/share/x/assent.db",
		"/home/what?/100%/assent.db":  "file:///home/what%3F/100%25/assent.db",
		"C:/Users/a#b c/assent.db":    "file:///C:/Users/a%23b%20c/assent.db",
		"/home/back\\slash/assent.db": "file:///home/back%5Cslash/assent.db",
	} {
		if got := store.FileURI(path); got != want {
			t.Errorf("the URI of %s is %s, want %s", path, got, want)
		}
	}
}
