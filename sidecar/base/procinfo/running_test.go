//go:build linux || darwin

package procinfo

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"testing"
)

func TestWhichProcessesHaveAnEntryInTheirEnvironment(t *testing.T) {
	self, err := os.Executable() // systems hide the environment of their own programs
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("MACHINE_TEST") != "" { // as the child
		_, _ = os.Stdin.Read(make([]byte, 1))
		return
	}
	child := exec.Command(self, "-test.run", "^"+t.Name()+"$")
	child.Env = append(os.Environ(), "MACHINE_TEST="+t.TempDir())
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	entry := child.Env[len(child.Env)-1]
	start, err := StartOf(child.Process.Pid)
	if err != nil || start == "" {
		t.Errorf("StartOf = %q, %v", start, err)
	}
	all, err := Processes(entry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		switch isChild := p.PID == child.Process.Pid; {
		case p.Marked != isChild:
			t.Errorf("%+v is marked, or not, and the child is %d", p, child.Process.Pid)
		case isChild && (p.Parent != os.Getpid() || p.Start != start || p.Group == 0):
			t.Errorf("the child is %+v, want the parent %d and the start %q", p, os.Getpid(), start)
		}
	}
	if !slices.ContainsFunc(all, func(p Running) bool { return p.PID == child.Process.Pid }) {
		t.Errorf("the child %d is not among %v", child.Process.Pid, all)
	}
	if none, err := Processes(entry + "x"); err != nil || slices.ContainsFunc(none, func(p Running) bool { return p.Marked }) {
		t.Errorf("another value: %v, %v", none, err)
	}
	if err := errors.Join(stdin.Close(), child.Wait()); err != nil {
		t.Error(err)
	}
	if start, err := StartOf(child.Process.Pid); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("once it has ended, StartOf = %q, %v", start, err)
	}
	first, err := Boot()
	if second, again := Boot(); err != nil || again != nil || first == "" || first != second {
		t.Errorf("Boot = %q, %v, then %q, %v", first, err, second, again)
	}
}
