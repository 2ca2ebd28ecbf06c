// Package wiretest plays an MCP server from a transcript: raw JSON-RPC lines, with no SDK between
// them and the wire.
//
// A transcript is a txtar archive. The lines of its sections "server NAME" are written as they are, JSON
// or not. Those of "client NAME" are the messages that the server waits for, compared as JSON. In a
// server's section, "!exit N" ends the process and "!stderr TEXT" writes to stderr. A section "client?
// NAME" is optional for a client, and "server? NAME" is the answer to it. A name such as "$ID" matches any
// value, and stands for that value in later lines; a request's id may use the name of an earlier one. The number of a
// client's request is a name, too: the client chooses its ids, and the transcript's answers get these.
package wiretest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// transcriptEnv names the transcript to play.
const transcriptEnv = "ASSENT_TEST_TRANSCRIPT"

// bin is the folder of the program "rawserver".
var bin string

// Main is TestMain for packages whose tests start a raw server. It builds the server's program, which starts in a tenth of
// the time of a test binary with the race detector.
func Main(m *testing.M) int {
	err := build()
	defer func() { _ = os.RemoveAll(bin) }()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func build() (err error) {
	if bin, err = os.MkdirTemp("", "assent-rawserver-"); err != nil {
		return fmt.Errorf("create a folder for rawserver: %w", err)
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin+string(filepath.Separator), "assent/sidecar/wire/wiretest/rawserver")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath") // as the product is built
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build rawserver: %w: %s", err, out)
	}
	return nil
}

// Play plays NAME of the installed transcript on stdin and stdout.
func Play(name string) error {
	archive, err := txtar.ParseFile(os.Getenv(transcriptEnv))
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	p := newPlayer(name, os.Stdin, os.Stderr, func(line string) error {
		_, err := fmt.Println(line)
		return err
	})
	p.exit = os.Exit
	return p.play(archive)
}

// Install makes "rawserver NAME" a program that plays NAME of the transcript, for the rest of the test. The test must not
// be parallel.
func Install(t *testing.T, transcript string) {
	t.Helper()
	path, err := filepath.Abs(transcript)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv(transcriptEnv, path)
}

// Write installs a transcript from a text.
func Write(t *testing.T, transcript string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "transcript.txtar")
	if err := os.WriteFile(path, []byte(transcript), 0o600); err != nil {
		t.Fatal(err)
	}
	Install(t, path)
}

// player is the server in a conversation.
type player struct {
	name   string
	in     *bufio.Reader
	stderr io.Writer
	// out sends a line, and exit ends the server.
	out  func(line string) error
	exit func(code int)
	// ahead is the client's message after a skipped optional section.
	ahead string
	// skipping is set from there to the next required section.
	skipping bool
	// names are the values of "$ID" and other names, and ids those of the numbers of the client's requests.
	names map[string]any
	ids   map[float64]any
}

func newPlayer(name string, in io.Reader, stderr io.Writer, out func(string) error) *player {
	return &player{name: name, in: bufio.NewReader(in), stderr: stderr, out: out, names: map[string]any{}, ids: map[float64]any{}}
}

// play plays the transcript, and then reads until the client leaves.
func (p *player) play(archive *txtar.Archive) error {
	for _, section := range archive.Files {
		speaker, of, _ := strings.Cut(section.Name, " ")
		if of != p.name {
			continue
		}
		speaker, optional := strings.CutSuffix(speaker, "?")
		if !optional {
			p.skipping = false
		}
		for _, line := range Lines(section.Data) {
			if p.skipping {
				break
			}
			var err error
			if speaker == "client" {
				err = p.hear(line, optional)
			} else {
				err = p.say(line)
			}
			if err != nil {
				return err
			}
		}
	}
	_, err := io.Copy(io.Discard, p.in)
	return err
}

// hear waits for a line of the client.
func (p *player) hear(want string, optional bool) error {
	got := p.ahead
	p.ahead = ""
	if got == "" {
		var err error
		if got, err = p.in.ReadString('\n'); err != nil {
			return fmt.Errorf("rawserver %s: want %s, got %w", p.name, want, err)
		}
	}
	switch {
	case p.matches(want, got):
		return nil
	case optional:
		p.ahead, p.skipping = got, true
		return nil
	default:
		return fmt.Errorf("rawserver %s: want %s, got %s", p.name, want, got)
	}
}

// matches compares a line with the expected one, and sets the values of its names.
func (p *player) matches(want, got string) bool {
	var x, y any
	if json.Unmarshal([]byte(want), &x) != nil || json.Unmarshal([]byte(got), &y) != nil {
		return false
	}
	learned := maps.Clone(p.names)
	wanted, _ := x.(map[string]any)
	frame, _ := y.(map[string]any)
	number, isNumber := wanted["id"].(float64)
	if isNumber = isNumber && wanted["method"] != nil; isNumber && !p.mayBe(number, frame["id"]) {
		return false
	}
	switch name, isName := wanted["id"].(string); {
	case isNumber:
		wanted["id"] = frame["id"]
	case isName && wanted["method"] != nil:
		delete(learned, name)
	}
	if params, ok := wanted["params"].(map[string]any); ok && wanted["method"] == "notifications/cancelled" {
		if number, ok := params["requestId"].(float64); ok && p.ids[number] != nil {
			params["requestId"] = p.ids[number]
		}
	}
	if !match(x, y, learned) {
		return false
	}
	if isNumber {
		p.ids[number] = frame["id"]
	}
	p.names = learned
	return true
}

// mayBe reports whether the id of a client's request may have a number of the transcript: an integer that no other number has.
func (p *player) mayBe(number float64, id any) bool {
	n, ok := id.(float64)
	for other, taken := range p.ids {
		ok = ok && (other == number || taken != id)
	}
	return ok && n == math.Trunc(n)
}

func match(want, got any, names map[string]any) bool {
	switch w := want.(type) {
	case string:
		if !strings.HasPrefix(w, "$") {
			return w == got
		}
		if value, known := names[w]; known {
			return reflect.DeepEqual(value, got)
		}
		names[w] = got
		return true
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(w) != len(g) {
			return false
		}
		for key, value := range w {
			other, ok := g[key]
			if !ok || !match(value, other, names) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			return false
		}
		for i := range w {
			if !match(w[i], g[i], names) {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(want, got)
	}
}

// say writes a line, or runs its command.
func (p *player) say(line string) error {
	if text, ok := strings.CutPrefix(line, "!stderr "); ok {
		_, err := fmt.Fprintln(p.stderr, text)
		return err
	}
	if text, ok := strings.CutPrefix(line, "!exit "); ok {
		code, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		p.exit(code)
		return nil
	}
	for name, value := range p.names {
		raw, err := json.Marshal(value)
		if err != nil {
			return err
		}
		line = strings.ReplaceAll(line, strconv.Quote(name), string(raw))
	}
	if answer := answerID.FindStringSubmatchIndex(line); answer != nil {
		number, err := strconv.ParseFloat(line[answer[2]:answer[3]], 64)
		if err != nil {
			return err
		}
		if id := p.ids[number]; id != nil {
			raw, err := json.Marshal(id)
			if err != nil {
				return err
			}
			line = line[:answer[2]] + string(raw) + line[answer[3]:]
		}
	}
	return p.out(line)
}

// answerID finds the number of the request that a line answers.
var answerID = regexp.MustCompile(`^\{(?:"jsonrpc":"2.0",)?"id":([0-9]+),"(?:result|error)"`)

// Lines returns the lines of a section that are not empty.
func Lines(data []byte) []string {
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
