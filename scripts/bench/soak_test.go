package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSharesAreAllAsks(t *testing.T) {
	for _, asks := range []int{soakCalls, soakCalls + 1, 20_000, soakUsualAsks} {
		s, sum := soak{asks: asks}, 0
		for cycle := range soakCycles {
			for window := range soakWindows {
				for lane := range windowLanes {
					for call := range laneCalls {
						n := s.share(cycle, window, lane, call)
						if n == 0 {
							t.Fatalf("of %d asks, a call has none", asks)
						}
						sum += n
					}
				}
			}
		}
		if sum != asks {
			t.Errorf("%d asks are shared out as %d", asks, sum)
		}
	}
}

func TestMissedBars(t *testing.T) {
	met := row{what: "memory", unit: "MB", figure: sample{21}, reference: sample{20}, referenceIs: "before", bar: bar{limit: mayGrow}}
	if err := missedBars([]row{met, {what: "threads", figure: sample{9}, reference: sample{8}}}); err != nil {
		t.Errorf("a bar that is met: %v", err)
	}
	missed := met
	missed.figure = sample{21.1}
	err := missedBars([]row{met, missed})
	if want := "memory: 21.1 MB, before 20.0 MB: the ratio is 1.0550, and should be ≤ 1.05"; err == nil || err.Error() != want {
		t.Errorf("a bar that is missed: %v, want %s", err, want)
	}
}

// A server that checks its answers must notice each of these, or the soak would prove nothing.
func TestServerNoticesWrongAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []string // its ask's number, and what to answer
		want    string
	}{
		"right":        {[]string{"1 own", "0 own", "2 own"}, `"answered":3`},
		"another's":    {[]string{"0 other"}, "with"},
		"twice":        {[]string{"0 own", "0 own"}, "twice"},
		"of no ask":    {[]string{"7 own"}, "answered 7"},
		"not accepted": {[]string{"0 decline"}, "decline"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			s := newRawServer(&out)
			say := func(text string) {
				t.Helper()
				var m rawMessage
				if err := json.Unmarshal([]byte(text), &m); err != nil {
					t.Fatal(err)
				}
				if err := s.handle(&m); err != nil {
					t.Fatal(err)
				}
			}
			say(`{"id":5,"method":"tools/call","params":{"name":"check","arguments":{"n":3,"atOnce":2}}}`)
			for _, answer := range tt.answers {
				id, what, _ := strings.Cut(answer, " ")
				content := `{"answer":"x"}`
				if what == "own" {
					question, err := json.Marshal(map[string]string{"answer": s.question(int(id[0] - '0'))})
					if err != nil {
						t.Fatal(err)
					}
					content = string(question)
				}
				action := "accept"
				if what == "decline" {
					action = what
				}
				say(`{"id":` + id + `,"result":{"action":"` + action + `","content":` + content + `}}`)
			}
			if err := s.out.Flush(); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(strings.ReplaceAll(last, `\`, ""), tt.want) || !strings.Contains(last, `"id":5`) {
				t.Errorf("the call ended with %s, want %s", last, tt.want)
			}
		})
	}
}
