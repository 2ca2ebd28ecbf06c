package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRatiosAreOfOneRound(t *testing.T) {
	// The machine is slower from round to round, for both.
	r := row{figure: sample{1, 10, 100}, reference: sample{2, 20, 200}}
	if diff := cmp.Diff(sample{0.5, 0.5, 0.5}, r.ratios()); diff != "" {
		t.Errorf("ratios (-want +got):\n%s", diff)
	}
}

func TestBars(t *testing.T) {
	tests := []struct {
		name  string
		bar   bar
		text  string
		ratio float64
		met   bool
	}{
		{"at most, and less", bar{limit: 0.1}, "≤ 0.1", 0.09, true},
		{"at most, and more", bar{limit: 0.1}, "≤ 0.1", 0.11, false},
		{"at least, and more", bar{limit: 1.5, atLeast: true}, "≥ 1.5", 1.6, true},
		{"at least, and less", bar{limit: 1.5, atLeast: true}, "≥ 1.5", 1.4, false},
		{"none", bar{}, "", 1000, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.bar.String(); got != tt.text {
				t.Errorf("String() = %q, want %q", got, tt.text)
			}
			if got := tt.bar.met(tt.ratio); got != tt.met {
				t.Errorf("met(%v) = %v", tt.ratio, got)
			}
		})
	}
}

func TestDecimal(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 0.01234: "0.0123", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 12345: "12345", -1.5: "-1.50"} {
		if got := decimal(f); got != want {
			t.Errorf("decimal(%v) = %q, want %q", f, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	rows := []row{
		{group: "ask", what: "an ask", unit: "us", figure: sample{3, 1, 2}, reference: sample{6, 2, 4}, referenceIs: "an other", bar: bar{limit: 1}},
		{group: "size", what: "its size", unit: "B", figure: sample{7}},
	}
	var out strings.Builder
	if err := printTable(&out, &machine{Platform: "p", CPU: "c", CPUs: 2, Go: "g", Load: "1.00", Time: time.Unix(0, 0).UTC()}, rows); err != nil {
		t.Fatal(err)
	}
	want := `p, 2 × c, g, load 1.00, 1970-01-01

| what     |     | figure           | reference |                  | ratio               | bar | met |
| -------- | --- | ---------------- | --------- | ---------------- | ------------------- | --- | --- |
| **ask**  |     |                  |           |                  |                     |     |     |
| an ask   | us  | 2.00 (1.00–3.00) | an other  | 4.00 (2.00–6.00) | 0.500 (0.500–0.500) | ≤ 1 | yes |
| **size** |     |                  |           |                  |                     |     |     |
| its size | B   | 7.00             |           |                  |                     |     |     |
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestGroupsAreChosenByTheirNames(t *testing.T) {
	tests := []struct {
		name, only string
		want       []string
		fails      string
	}{
		{name: "one", only: "memory", want: []string{"memory"}},
		{name: "several, in the order of the table", only: "memory, ask", want: []string{"ask", "memory"}},
		{name: "one named twice", only: "ask,ask", want: []string{"ask"}},
		{name: "a name that is wrong", only: "ask,memry", fails: `there is no group "memry" to measure; there are ask, `},
		{name: "a name that is missing", only: "ask,", fails: `there is no group "" to measure`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			groups, err := chosen(tt.only)
			if failed := err != nil; failed != (tt.fails != "") || failed && !strings.HasPrefix(err.Error(), tt.fails) {
				t.Fatalf("error %v, want %q", err, tt.fails)
			}
			var got []string
			for _, g := range groups {
				got = append(got, g.name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
	if all, err := chosen(""); err != nil || len(all) != len(allGroups()) {
		t.Errorf("no name chose %d groups, %v", len(all), err)
	}
}
