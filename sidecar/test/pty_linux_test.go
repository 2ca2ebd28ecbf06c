package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"

	"assent/sidecar/daemon"
	"assent/sidecar/terminal"
)

// The keys that a terminal sends.
const (
	enter    = "\r"
	escape   = "\x1b"
	ctrlC    = "\x03"
	ctrlS    = "\x13"
	ctrlX    = "\x18"
	up       = "\x1b[A"
	down     = "\x1b[B"
	back     = "\x7f"
	shiftTab = "\x1b[Z"
	pageDown = "\x1b[6~"
)

// seat is a person at a terminal at which the program runs. Its stdin and its stderr are that, its stdout is not.
type seat struct {
	t       *testing.T
	dir     string
	program *exec.Cmd
	pty     *os.File // the person's side
	tty     *os.File // the program's
	stdout  bytes.Buffer

	mu      sync.Mutex // guards the fields below
	screen  vt10x.Terminal
	said    bytes.Buffer  // all that came
	changed chan struct{} // closed at the next output
}

// sit starts the program at a terminal of so many columns and rows.
func sit(t *testing.T, columns, rows int, environment []string, args ...string) *seat {
	t.Helper()
	return sitAfter(t, "", columns, rows, environment, args...)
}

// sitAfter is sit after something was typed.
func sitAfter(t *testing.T, typed string, columns, rows int, environment []string, args ...string) *seat {
	t.Helper()
	s := newSeat(t, columns, rows, environment, args...)
	s.start(typed)
	return s
}

// reads starts the program at a terminal that is its stdout, too.
func reads(t *testing.T, columns, rows int, environment []string, args ...string) *seat {
	t.Helper()
	s := newSeat(t, columns, rows, environment, args...)
	s.program.Stdout = s.tty
	s.start("")
	return s
}

// newSeat prepares a terminal and the program.
func newSeat(t *testing.T, columns, rows int, environment []string, args ...string) *seat {
	t.Helper()
	t.Parallel()
	s := &seat{t: t, dir: sharedDir(t), changed: make(chan struct{}), screen: vt10x.New(vt10x.WithSize(columns, rows))}
	config := filepath.Join(s.dir, ".vscode", "mcp.json")
	if err := os.Mkdir(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte(`{
		"inputs": [
			{"id": "token", "type": "promptString", "description": "The token", "password": true},
			{"id": "place", "type": "pickString", "description": "The place", "options": ["here", "there"]}
		],
		"servers": {
			"demo": {"command": "asks-all"},
			"scripted": {"command": "scripted"},
			"wordy": {"command": "asks-all", "env": {"WORDY": "12345"}},
			"guarded": {"command": "asks-all", "env": {"TOKEN": "${input:token}"}},
			"placed": {"command": "asks-all", "env": {"TOKEN": "${input:place}"}}
		}
	}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.open()
	s.size(columns, rows)
	s.program = exec.Command("assent", args...)
	s.program.Dir, s.program.Stdin, s.program.Stdout, s.program.Stderr = s.dir, s.tty, &s.stdout, s.tty
	s.program.Env = append(append(os.Environ(), "TERM=xterm"), environment...)
	s.program.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return s
}

// start starts the program after something was typed.
func (s *seat) start(typed string) {
	t := s.t
	t.Helper()
	if _, err := s.pty.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	if err := s.program.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(s.read)
	t.Cleanup(func() {
		_ = s.program.Process.Kill() // it has ended, unless the test failed
		_ = s.program.Wait()
		_ = s.pty.Close()
		_ = s.tty.Close() // kept open until now, so that a test can read the terminal's settings
		reading.Wait()
	})
}

// open opens a pseudo-terminal. Our side of it is one that can be closed while it is read.
func (s *seat) open() {
	s.t.Helper()
	ours, theirs, err := pty.Open()
	if err != nil {
		s.t.Fatal(err)
	}
	defer ours.Close()
	fd, err := unix.FcntlInt(ours.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.pty, s.tty = os.NewFile(uintptr(fd), ours.Name()), theirs
}

// size makes the terminal one of so many columns and rows.
func (s *seat) size(columns, rows int) {
	s.t.Helper()
	if err := pty.Setsize(s.tty, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		s.t.Fatal(err)
	}
}

// strangeToScreen are the sequences that the screen takes for others: how keys are to be reported.
var strangeToScreen = regexp.MustCompile("\x1b\\[[<>=?][0-9;]*[um]")

func (s *seat) read() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := s.pty.Read(buffer)
		s.mu.Lock()
		s.said.Write(buffer[:n])
		_, _ = s.screen.Write(strangeToScreen.ReplaceAll(buffer[:n], nil)) // it never fails
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// until waits until the screen meets a condition.
func (s *seat) until(what string, there func(screen string) bool) {
	s.t.Helper()
	late := time.After(2 * time.Minute)
	for {
		s.mu.Lock()
		screen, changed := s.screen.String(), s.changed
		s.mu.Unlock()
		if there(screen) {
			return
		}
		select {
		case <-changed:
		case <-late:
			s.t.Fatalf("%s: the screen is\n%s", what, strings.TrimRight(screen, " \n"))
		}
	}
}

// sees waits for a text on the screen.
func (s *seat) sees(text string) {
	s.t.Helper()
	s.until("waiting for "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

// types types keys, each of which is read as one.
func (s *seat) types(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		if _, err := s.pty.WriteString(k); err != nil {
			s.t.Fatal(err)
		}
	}
}

// ends waits for the program to end, with a code. The terminal is then as it was.
func (s *seat) ends(code int) string {
	s.t.Helper()
	timer := time.AfterFunc(2*time.Minute, func() { _ = s.program.Process.Kill() })
	_ = s.program.Wait() // the code says it
	timer.Stop()
	if got := s.program.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit %d, want %d\n%s", got, code, s.all())
	}
	if !s.isCooked() {
		s.t.Error("the terminal is left in raw mode")
	}
	s.until("waiting for the screen that was there before", func(string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.screen.Mode()&vt10x.ModeAltScreen == 0 && s.screen.CursorVisible()
	})
	return strings.TrimSpace(s.stdout.String())
}

// all returns the bytes that the program wrote.
func (s *seat) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// isCooked reports whether the terminal is in line mode with echo.
func (s *seat) isCooked() bool {
	state, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	return err == nil && state.Lflag&unix.ECHO != 0 && state.Lflag&unix.ICANON != 0
}

func (s *seat) resize(columns, rows int) {
	s.t.Helper()
	s.mu.Lock()
	s.screen.Resize(columns, rows)
	s.mu.Unlock()
	s.size(columns, rows)
}

// lines returns the lines of the screen, without blanks at their ends and blank lines below them.
func (s *seat) lines() []string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.Split(strings.TrimRight(s.screen.String(), " \n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

// has waits until the terminal shows lines and no others, after the program has ended.
func (s *seat) has(want ...string) {
	s.t.Helper()
	last := want[len(want)-1]
	s.sees(last)
	if diff := cmp.Diff(want, s.lines()); diff != "" {
		s.t.Errorf("the terminal (-want +got):\n%s", diff)
	}
}

func TestAListIsATableThatFitsTheTerminal(t *testing.T) {
	tests := []struct {
		name          string
		columns, rows int
		args          []string
		want          []string
	}{
		{"servers", 60, 12, []string{"servers"}, []string{
			"NAME      TRANSPORT  COMMAND   SOURCE",
			"demo      stdio      asks-all  .vscode/mcp.json",
			"scripted  stdio      scripted  .vscode/mcp.json",
			"wordy     stdio      asks-all  .vscode/mcp.json",
			"guarded   stdio      asks-all  .vscode/mcp.json",
			"placed    stdio      asks-all  .vscode/mcp.json",
		}},
		{"a long word is cut", 20, 12, []string{"servers", "--config", "long.json"}, []string{
			"one",
			"  transport: stdio",
			"  command: a-progra…",
			"  source: long.json",
		}},
		{"a path is as short as it can be", 80, 12, []string{"servers", "--config", "paths.json"}, []string{
			"NAME  TRANSPORT  COMMAND                    SOURCE",
			"one   stdio      node src/one.mjs /etc/one  paths.json",
		}},
		{"empty columns are left out", 60, 12, []string{"resources", "--trust", "demo"}, []string{
			"URI          NAME",
			"memo://note  note",
			"memo://{id}  notes",
		}},
		{"nothing", 30, 12, []string{"grants", "--data-dir", "kept"}, []string{"There are no grants in kept."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSeat(t, tt.columns, tt.rows, []string{"NO_COLOR=1"}, tt.args...)
			s.program.Stdout = s.tty
			if err := os.WriteFile(filepath.Join(s.dir, "long.json"), []byte(`{"servers": {"one": {"command": "a-program-with-a-long-name"}}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			paths := fmt.Sprintf(`{"servers": {"one": {"command": "/opt/node/bin/node", "args": [%q, "/etc/one"]}}}`, filepath.Join(s.dir, "src", "one.mjs"))
			if err := os.WriteFile(filepath.Join(s.dir, "paths.json"), []byte(paths), 0o600); err != nil {
				t.Fatal(err)
			}
			s.start("")
			s.ends(0)
			s.has(tt.want...)
			if strings.Contains(s.all(), "\x1b") {
				t.Errorf("NO_COLOR is set, and the terminal got %q", s.all())
			}
		})
	}
}

func TestTheJournalIsReadableOnATerminal(t *testing.T) {
	s := newSeat(t, 44, 30, nil, "journal", "show", "--data-dir", "kept")
	call := exec.Command("assent", "call", "--trust", "demo", "survey", "--data-dir", "kept")
	call.Dir = s.dir
	_ = call.Run() // it fails: it has no terminal to ask at
	s.program.Stdout = s.tty
	s.start("")
	s.ends(0)
	s.sees("ended with a result")
	clock := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	var got []string
	for _, line := range s.lines()[:4] {
		got = append(got, clock.ReplaceAllString(line, "2026-11-22 12:00:00"))
	}
	want := []string{
		"     #  TIME                 SERVER  RECORD",
		"     1  2026-11-22 12:00:00  demo",
		"        tools/call survey {}",
		"     2  2026-11-22 12:00:00  demo",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the terminal (-want +got):\n%s", diff)
	}
}

func TestDescriptionsAreWrappedBetweenWords(t *testing.T) {
	tests := []struct {
		columns int
		want    []string
	}{
		{80, []string{
			"TOOL     ARGUMENTS                    DESCRIPTION",
			"echo     [text] [count] [tags] [any]  The tool echo with a long description with",
			"                                      a long description with a long description",
			"                                      with a long description with a long",
			"                                      description",
			"book     name nights [note]           The tool book with a long description with",
		}},
		{40, []string{
			"echo",
			"  arguments: [text] [count] [tags] [any]",
			"  description: The tool echo with a long",
			"  description with a long description",
			"  with a long description with a long",
			"  description with a long description",
			"book",
			"  arguments: name nights [note]",
		}},
	}
	for _, tt := range tests {
		t.Run(strconv.Itoa(tt.columns), func(t *testing.T) {
			s := reads(t, tt.columns, 150, nil, "tools", "--trust", "wordy")
			s.ends(0)
			s.sees("The tool page")
			if diff := cmp.Diff(tt.want, s.lines()[:len(tt.want)]); diff != "" {
				t.Errorf("the terminal (-want +got):\n%s", diff)
			}
			if !strings.Contains(s.all(), "\x1b[1m") {
				t.Error("nothing stands out")
			}
		})
	}
}

func TestEveryFieldIsFilledInOnATerminal(t *testing.T) {
	s := sit(t, 80, 24, nil, "call", "--trust", "demo", "survey")
	s.sees(`The server "demo" (tool survey) asks: Tell me everything`)
	s.sees("Your name (text, at least 2 characters, required)")
	// Each field is checked as it is left, as the sidecar checks it.
	s.types(enter)
	s.sees("! This is required.")
	s.types("A", enter)
	s.sees("! This must have at least 2 characters.")
	s.types("da", enter)
	s.sees("2/6 mail")
	s.types("nobody", enter)
	s.sees("! This must be an e-mail address")
	s.types(strings.Repeat(back, 6), "ada@example.com", enter)
	s.sees("3/6 age")
	s.types("x", enter)
	s.sees("! This must be a number.")
	s.types(back, "3", enter)
	s.sees("! This must be at least 18.")
	s.types("6", enter)
	s.sees("4/6 sure")
	s.sees("> Yes") // its default
	s.types(down, enter)
	s.sees("5/6 colour")
	s.sees("> (leave it out)")
	s.types(up, enter)
	s.sees("6/6 sizes")
	s.types("x", down, down, "x")
	s.sees("[•] L")
	s.types(shiftTab)
	s.sees("> green")
	s.types(enter)
	s.sees("[•] L")
	s.types(enter)
	s.sees("Send this to the server?")
	s.sees(`sizes: ["S","L"]`)
	s.sees("age: 36")
	s.types(enter)
	want := `{"action":"accept","content":{"name":"Ada","mail":"ada@example.com","age":36,"sure":false,"colour":"green","sizes":["S","L"]}}`
	if got := s.ends(0); got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
}

func TestAnAnswerIsMarkedAsSecretOnATerminal(t *testing.T) {
	s := sit(t, 80, 24, nil, "call", "--trust", "demo", "survey", "--record", "asks.yaml")
	s.sees("1/6 Your name")
	s.sees("Ctrl-S secret")
	s.types(ctrlS)
	s.sees("1/6 Your name (secret)")
	s.types("Ada-of-hearts")
	s.sees("> *************")
	s.types(enter)
	s.sees("2/6 mail")
	// The problem of an answer goes with the answer.
	s.types("nobody", enter)
	s.sees("! This must be an e-mail address")
	s.types(strings.Repeat(back, 6), enter)
	s.sees("3/6 age")
	s.types(ctrlS, "36")
	s.sees("3/6 age (secret)")
	s.types(ctrlS) // it is none after all
	s.sees("36")
	s.types(enter)
	s.sees("4/6 sure")
	s.sees("↑↓ choose")
	if strings.Contains(strings.Join(s.lines(), "\n"), "Ctrl-S") {
		t.Error("a yes or no can be marked as secret")
	}
	s.types(enter)
	s.sees("5/6 colour")
	s.types(enter)
	s.sees("6/6 sizes")
	s.types(enter)
	s.sees("  Your name: •••")
	s.sees("  mail: (left out)")
	s.types(enter)
	if got, want := s.ends(0), `{"action":"accept","content":{"name":"Ada-of-hearts","age":36,"sure":true}}`; got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
	s.sees("age: 36")
	if strings.Contains(s.all(), "Ada-of-hearts") {
		t.Errorf("the terminal got the secret: %q", s.all())
	}
	recording, err := os.ReadFile(filepath.Join(s.dir, "asks.yaml"))
	if err != nil || !bytes.Contains(recording, []byte("name: !secret ")) {
		t.Errorf("the recording is %q, %v", recording, err)
	}
}

func TestAMarkedLineIsNotShown(t *testing.T) {
	s := sit(t, 80, 24, nil, "call", "--trust", "demo", "survey", "--plain")
	s.sees("Your name (text")
	s.types(":secret\n")
	s.sees("This answer is a secret")
	eventually(t, "a terminal that does not show what is typed", func() bool { return !s.isCooked() })
	s.types("Ada-of-hearts\n")
	s.sees("mail (email")
	s.types(":cancel\n")
	if got, want := s.ends(0), `{"action":"cancel"}`; got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
	if strings.Contains(s.all(), "Ada-of-hearts") {
		t.Errorf("the terminal got the secret: %q", s.all())
	}
}

func TestAnAnswerThatIsNotSavedSaysSo(t *testing.T) {
	for _, tt := range []struct {
		no    string
		flags []string
	}{{ctrlX, nil}, {":decline\n", []string{"--plain"}}} {
		t.Run(strings.Join(append([]string{"asked"}, tt.flags...), " "), func(t *testing.T) {
			home := []string{daemon.FolderVariable + "=" + newDaemonHome(t).folder}
			s := sit(t, 80, 24, home, append([]string{"call", "--standalone", "--trust", "demo", "survey", "--data-dir", "kept"}, tt.flags...)...)
			s.sees("Your name (text")
			limitFiles(t, s.program.Process.Pid, 0) // as a full disk does
			s.types(tt.no)
			if got, want := s.ends(0), `{"action":"decline"}`; got != want {
				t.Errorf("the server got %s, want %s", got, want)
			}
			s.sees("This answer is not saved: it is lost if Assent ends before")
		})
	}
}

func TestADateAndTimeIsTypedAsPeopleWriteIt(t *testing.T) {
	s := sit(t, 80, 24, []string{"TZ=UTC"}, "call", "--trust", "demo", "when")
	s.sees("date and time: 2026-11-21 14:30 in your time zone (UTC+00:00)")
	s.types("tomorrow", enter)
	s.sees("! This must be a date and time with its zone")
	s.types(strings.Repeat(back, 8), "2026-11-21 14:30", enter)
	s.sees("2/2 days")
	s.types(enter)
	s.sees("! Choose at least 1.")
	s.types("x", enter)
	s.sees("at: 2026-11-21T14:30:00Z")
	s.types(enter)
	if got, want := s.ends(0), `{"action":"accept","content":{"at":"2026-11-21T14:30:00Z","days":["Mon"]}}`; got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
}

func TestNoAndAwayAreNotTheSame(t *testing.T) {
	tests := []struct{ name, tool, keys, want string }{
		{"Esc", "survey", escape, `{"action":"cancel"}`},
		{"Ctrl-X", "survey", ctrlX, `{"action":"decline"}`},
		{"decline on the last page", "count", down + enter, `{"action":"decline"}`},
		{"cancel on the last page", "count", up + enter, `{"action":"cancel"}`},
		{"a page is declined", "page", down + enter, `{"action":"decline"}`},
		{"a page is put away", "page", escape, `{"action":"cancel"}`},
		{"a page is gone to", "page", enter, `{"action":"accept"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sit(t, 80, 24, nil, "call", "--trust", "demo", tt.tool)
			s.sees("Esc cancels")
			s.types(tt.keys)
			if got := s.ends(0); got != tt.want {
				t.Errorf("the server got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestUntrustedTextIsDrawnInADialog(t *testing.T) {
	s := sit(t, 80, 24, nil, "call", "--trust", "demo", "strange", "--output", "json")
	s.sees("<U+001B>[2J<U+202E>go<U+000D> away")
	s.sees("Your <U+001B>[31mpassword")
	s.sees("Careful: this seems to ask for a secret")
	s.types("hunter2")
	s.sees("*******")
	s.types(enter)
	s.sees("2/6 note")
	s.sees("two")
	s.types(enter)
	s.sees("a<U+202E>b")
	s.types(enter)
	s.sees("[•] Two (2)")
	s.types(enter)
	s.sees("5/6 left")
	s.types(enter)
	s.sees("> 1.5")
	s.types(enter)
	s.sees("Your <U+001B>[31mpassword: •••")
	s.types(enter)
	// A value that was not changed goes out as it was, although it was shown in another way.
	want := `{"action":"accept","content":{"password":"hunter2","note":"one\ntwo","hidden":"a` + "\u202e" + `b","same":["2"],"much":1.5}}`
	var result struct{ Content []struct{ Text string } }
	if err := json.Unmarshal([]byte(s.ends(0)), &result); err != nil {
		t.Fatal(err)
	}
	if len(result.Content) != 1 || result.Content[0].Text != want {
		t.Errorf("the server got %q, want %s", result.Content, want)
	}
	if all := s.all(); strings.Contains(all, "hunter2") || strings.Contains(all, "\u202e") || strings.Contains(all, "\x1b[31mpassword") {
		t.Errorf("the terminal got what it must not: %q", all)
	}
}

func TestATerminalOfTwentyColumnsAndFiveRows(t *testing.T) {
	s := sit(t, 20, 5, nil, "call", "--trust", "demo", "survey")
	s.sees("1/6 Your name")
	s.sees(`The server "demo"`)
	s.types(strings.Repeat(pageDown, 9))
	s.sees("PgUp back")
	s.sees("required)")
	s.types("Ada", enter)
	s.sees("2/6 mail")
	s.resize(60, 12) // in the middle
	s.sees("mail (email, may be left out)")
	s.types(enter)
	s.sees("3/6 age")
	s.types("17")
	s.resize(20, 5)
	s.types(enter)
	s.sees("! This must be at") // at a field that has no more rows than these
	s.types(back, "8", enter)
	s.sees("4/6 sure")
	s.types(enter)
	s.sees("5/6 colour")
	s.types(enter)
	s.sees("6/6 sizes")
	s.types(enter)
	s.sees("> Send it")
	s.types(enter)
	if got, want := s.ends(0), `{"action":"accept","content":{"name":"Ada","age":18,"sure":true}}`; got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
}

func TestInputBeforeTheQuestionIsNotAnAnswer(t *testing.T) {
	s := sitAfter(t, "\n", 80, 24, nil, "call", "--trust", "demo", "page")
	s.sees("Do you consent")
	s.types(down, enter)
	if got, want := s.ends(0), `{"action":"decline"}`; got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
}

func TestCtrlCInADialogCancelsTheCall(t *testing.T) {
	s := sit(t, 80, 24, nil, "call", "--trust", "demo", "survey")
	s.sees("1/6 Your name")
	s.types(ctrlC)
	if got := s.ends(130); got != "" {
		t.Errorf("stdout has %s", got)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "cancelled.json")); err != nil {
		t.Errorf("the server was not told: %v", err)
	}
}

func TestCtrlCTwiceLeaves(t *testing.T) {
	s := sit(t, 80, 24, nil, "call", "--trust", "demo", "stuck")
	s.sees("a (text, may be left out)")
	s.types(ctrlC)
	s.sees("Interrupt again to leave at once.")
	s.types(ctrlC) // now it is a signal
	s.ends(130)
}

func TestCtrlCTwiceLeavesADaemonThatHangs(t *testing.T) {
	h := newDaemonHome(t)
	s := sit(t, 80, 24, []string{daemon.FolderVariable + "=" + h.folder}, "call", "--trust", "demo", "survey")
	s.sees("1/6 Your name")
	hanging := h.status().PID
	stop(t, hanging)
	defer func() { _ = syscall.Kill(hanging, syscall.SIGCONT) }() // the test ends it
	s.types(ctrlC)
	s.sees("Interrupt again to leave at once.")
	if err := s.program.Process.Signal(syscall.SIGINT); err != nil { // the dialog is still there: its end was not told
		t.Fatal(err)
	}
	s.ends(130)
	s.sees("Left without waiting for the server.")
}

func TestADialogSaysThatTheDaemonHasEnded(t *testing.T) {
	h := newDaemonHome(t)
	s := sit(t, 80, 24, []string{daemon.FolderVariable + "=" + h.folder}, "call", "--trust", "demo", "survey")
	s.sees("1/6 Your name")
	h.run("daemon", "stop", "--force")
	s.ends(terminal.ExitEnded)
	s.sees("the daemon has ended in the middle: run the command again")
	if strings.Contains(s.all(), "You dismissed the question.") {
		t.Errorf("the person did nothing, and the command said %q", s.all())
	}
}

func TestATerminationInADialogRestoresTheTerminal(t *testing.T) {
	s := sit(t, 80, 24, nil, "call", "--trust", "demo", "survey")
	s.sees("1/6 Your name")
	if s.isCooked() {
		t.Error("there is no dialog")
	}
	if err := s.program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.ends(130)
}

func TestATerminalThatIsClosedCancelsTheCall(t *testing.T) {
	// The program inherits an ignored SIGHUP, as of nohup, but not one that this process handles.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	// The end of the input dismisses the question, but does not end the call of this tool.
	s := sit(t, 80, 24, nil, "call", "--trust", "demo", "stuck")
	s.sees("a (text, may be left out)")
	if err := s.pty.Close(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(2*time.Minute, func() { _ = s.program.Process.Kill() })
	_ = s.program.Wait() // the code says it
	timer.Stop()
	if code := s.program.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d", code)
	}
	// The end of the terminal may end the program before the daemon has told the server.
	eventually(t, "the server was told", func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "cancelled.json"))
		return err == nil
	})
}

func TestACompletionIsWrittenOnATerminal(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		keys  func(s *seat)
	}{
		{"in a dialog", nil, func(s *seat) {
			s.sees("May it go to the model?")
			s.types(down, down, down, enter)
			s.sees("1/3 the completion")
			s.types("Hello.", enter)
			s.sees("the model's name")
			s.types(enter)
			s.sees("stop reason")
			s.types(enter)
		}},
		{"line by line", []string{"--plain"}, func(s *seat) {
			s.sees("answer; :cancel dismisses it): ")
			s.types("answer\n")
			s.sees("Your completion: ")
			s.types("\n")
			s.sees("name that the server gets (human): ")
			s.types("\n")
			s.sees("The text is empty.")
			s.types("answer\n")
			s.sees("Your completion: ")
			s.types("Hello.\n")
			s.sees("name that the server gets (human): ")
			s.types("\n")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sit(t, 80, 24, nil, append([]string{"call", "--trust", "demo", "sample", "--record", "record.yaml"}, tt.flags...)...)
			tt.keys(s)
			want := `{"role":"assistant","content":{"type":"text","text":"Hello."},"model":"human","stopReason":"endTurn"}`
			if got := s.ends(0); got != want {
				t.Errorf("the server got %s, want %s", got, want)
			}
			recorded, err := os.ReadFile(filepath.Join(s.dir, "record.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(recorded), "completion: Hello.\n") {
				t.Errorf("the recording is\n%s", recorded)
			}
		})
	}
}

func TestACompletionIsApprovedOnATerminal(t *testing.T) {
	s := sit(t, 80, 24, nil, "call", "--trust", "demo", "sample")
	s.sees("user: Say hello")
	s.sees("at most 20 tokens")
	s.types(down, down, enter)
	s.sees("Which model?")
	s.types(escape) // leaves it
	s.sees("May it go to the model?")
	s.types(down, enter)
	s.sees("1/4 system prompt")
	s.types("Be brief", enter)
	s.sees("Say hello")
	s.types(" twice", enter)
	s.sees("most tokens of the answer")
	s.types(back, back, "21", enter)
	s.sees("type a whole number from 1 to 20")
	s.types(back, back, "12", enter)
	s.sees("temperature")
	s.types(enter)
	s.sees("system: Be brief")
	s.sees("user: Say hello twice")
	s.sees("at most 12 tokens")
	s.types(enter)
	s.sees("Does the server get it?")
	s.types(down, enter)
	s.sees("Esc leaves everything as it was.")
	s.types(" Edited.", enter)
	s.sees("Edited.")
	s.sees("Does the server get it?")
	s.types(enter)
	if got := s.ends(0); !strings.Contains(got, `Edited."`) || !strings.Contains(got, `"role":"assistant"`) {
		t.Errorf("the server got %s", got)
	}
}

func TestAModelsCallIsAllowedOnATerminal(t *testing.T) {
	s := sit(t, 80, 24, nil, "chat", "--trust", "--server", "scripted")
	s.sees("> ")
	s.types("find users\n")
	s.sees("Allow the model to use the tool find_users of the server scripted?")
	s.types(escape) // put away, which is no yes
	s.sees("You dismissed the question.")
	s.sees("\n> ")
	s.types("find users\n")
	s.sees("May it?")
	s.types(enter)
	s.until("waiting for the prompt", func(screen string) bool { return strings.Count(screen, "> ") >= 3 })
	s.types("\x04") // the end of the input
	if got := s.ends(0); !strings.Contains(got, "There are 3 users") {
		t.Errorf("the model said %q", got)
	}
}

func TestProgressIsOneLineThatStepsAside(t *testing.T) {
	s := sit(t, 40, 10, nil, "call", "--trust", "demo", "count")
	s.sees("Send this to the server?") // it has the screen
	s.types(enter)
	s.ends(0)
	all := s.all()
	if !strings.Contains(all, "██░░░░░░░░  25% counting") {
		t.Errorf("no bar was drawn: %q", all)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(s.screen.String(), "counting") {
		t.Errorf("the bar was left behind:\n%s", s.screen)
	}
}

func TestInputsAreAskedForOnATerminal(t *testing.T) {
	password := func(s *seat) {
		s.sees("The token")
		s.types("s3cret")
		s.sees("******")
		s.types(enter)
	}
	passwordLine := func(s *seat) {
		s.sees("The token: ")
		eventually(s.t, "a terminal that shows nothing that is typed", func() bool { return !s.isCooked() })
		s.types("s3cret\n")
	}
	tests := []struct {
		name   string
		server string
		flags  []string
		keys   func(s *seat)
		want   string
	}{
		{"a password in a dialog", "guarded", nil, password, "s3cret"},
		{"a password in a line", "guarded", []string{"--plain"}, passwordLine, "s3cret"},
		{"a choice in a dialog", "placed", nil, func(s *seat) { s.sees("The place"); s.types(down, enter) }, "there"},
		{"a choice in a line", "placed", []string{"--plain"}, func(s *seat) { s.sees("2. there"); s.types("2\n") }, "there"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sit(t, 80, 24, nil, append([]string{"call", "--trust", tt.server, "token"}, tt.flags...)...)
			tt.keys(s)
			if got := s.ends(0); got != tt.want {
				t.Errorf("the server has %q", got)
			}
			if strings.Contains(s.all(), "s3cret") {
				t.Errorf("the password was shown: %q", s.all())
			}
		})
	}
}

func TestCtrlCAtAnInput(t *testing.T) {
	for _, flags := range [][]string{nil, {"--plain"}} {
		t.Run(strings.Join(append([]string{"asked"}, flags...), " "), func(t *testing.T) {
			s := sit(t, 80, 24, nil, append([]string{"call", "--trust", "guarded", "token"}, flags...)...)
			s.sees("The token")
			eventually(t, "a terminal that does not show what is typed", func() bool { return !s.isCooked() })
			s.types(ctrlC)
			s.ends(130)
		})
	}
}

// The drawing libraries are part of the sidecar, whose stderr may be a terminal too. They must not query the terminal
// at the start.
func TestNothingIsAskedOfATerminalAtTheStart(t *testing.T) {
	s := sit(t, 80, 24, nil, "version")
	s.ends(0)
	if all := s.all(); all != "" {
		t.Errorf("the terminal got %q", all)
	}
}

func TestATerminalThatCannotBeDrawnOnIsAskedInLines(t *testing.T) {
	s := sit(t, 80, 24, []string{"TERM=dumb"}, "call", "--trust", "demo", "survey")
	s.sees("(:decline says no")
	s.types(":decline\n")
	if got, want := s.ends(0), `{"action":"decline"}`; got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
	if strings.Contains(s.all(), "\x1b") {
		t.Errorf("it was drawn on: %q", s.all())
	}
}

func TestHelpFitsANarrowTerminal(t *testing.T) {
	for _, columns := range []int{40, 60} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			s := reads(t, columns, 80, nil, "call", "--help")
			s.ends(0)
			s.sees("--task-ttl")
			all := strings.ReplaceAll(s.all(), "\r", "")
			before, after, _ := strings.Cut(all, "Examples:\n") // these are copied
			_, after, _ = strings.Cut(after, "\n\n")
			for line := range strings.Lines(before + after) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > columns {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

func TestNoticesAreWrappedBetweenWords(t *testing.T) {
	tests := []struct {
		name, typed string
		args        []string
		code        int
		want        string // lines of the screen
	}{
		{"a question", ":cancel\n", []string{"call", "--trust", "demo", "sample", "--plain"}, 0, `
The server "demo" (tool sample) asks for
a completion by a model.
`},
		{"a prompt", ":cancel\n", []string{"call", "--trust", "demo", "sample", "--plain"}, 0, `
Approve? (yes, no, model, answer;
:cancel dismisses it): :cancel
`},
		{"an error", "", []string{"call", "--trust", "demo", "bok"}, 2, `
assent: the server "demo" has no tool
"bok": did you mean book?
`},
		{"the doctor", "", []string{"doctor", "--", "no-such-program"}, 3, `
verdict       notFound: The program
              "no-such-program" was not
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSeat(t, 40, 80, nil, tt.args...)
			s.program.Stdout = s.tty
			s.start("")
			if tt.typed != "" {
				s.sees(" it): ")
				s.types(tt.typed)
			}
			s.ends(tt.code)
			s.until("waiting for lines", func(string) bool {
				return strings.Contains("\n"+strings.Join(s.lines(), "\n")+"\n", tt.want)
			})
		})
	}
}

func TestMissingArgumentsAreAskedForOnATerminal(t *testing.T) {
	s := sit(t, 80, 24, nil, "call", "--trust", "demo", "book", "--arg", "name=Ada")
	s.sees(`The tool book of the server "demo" requires what the command line does not have.`)
	s.sees("nights (whole number, at least 1, required)")
	s.sees("How long")
	s.types("0", enter)
	s.sees("! This must be at least 1.")
	s.types(back, "2", enter)
	s.sees("> Run it")
	s.types(enter)
	if got, want := s.ends(0), `{"name":"Ada","nights":2}`; got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
}

func TestMissingArgumentsRunNothing(t *testing.T) {
	for _, key := range []string{escape, ctrlC} {
		t.Run(strconv.Quote(key), func(t *testing.T) {
			s := sit(t, 80, 24, nil, "call", "--trust", "demo", "book")
			s.sees("1/2 name")
			s.types(key)
			if got := s.ends(130); got != "" {
				t.Errorf("the tool ran: %s", got)
			}
		})
	}
}

func TestAModelsTextIsWrappedBetweenWords(t *testing.T) {
	s := reads(t, 40, 24, []string{"NO_COLOR=1"}, "chat", "--trust", "--server", "scripted", "What could somebody possibly want to know about everything?")
	s.ends(0)
	s.sees(`want to know about everything?".`)
	want := []string{
		"You talk to Demo script (demo:script).",
		"Demo script answers here. It is offline",
		"and no language model. Choose a model in",
		"the settings for real answers.",
		"This is where a language model would",
		`answer "What could somebody possibly`,
		`want to know about everything?".`,
	}
	if diff := cmp.Diff(want, s.lines()); diff != "" {
		t.Errorf("the terminal (-want +got):\n%s", diff)
	}
	if regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(s.all()) {
		t.Errorf("NO_COLOR is set, and the terminal got %q", s.all())
	}
}
