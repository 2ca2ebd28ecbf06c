package browser_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/browser"
	"assent/sidecar/workspace/rpc/rpctest"
)

// scene is a page with its workspace, both played by the test.
type scene struct {
	t         *testing.T
	page      *websocket.Conn
	workspace io.ReadWriter
	in        *bufio.Reader
	left      chan struct{} // closed when the workspace may leave
}

// getPage gets a page of a server, as a browser does that has just been opened. The caller closes the response's body.
func getPage(t *testing.T, server *browser.Server, target browser.Target) (*http.Client, *http.Response) {
	t.Helper()
	address, err := server.Open(target)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	response, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	return client, response
}

// open opens a page. The workspace has read the introduction.
func open(t *testing.T, target browser.Target) (s *scene, introduction string) {
	t.Helper()
	attached := make(chan io.ReadWriter, 1)
	left := make(chan struct{})
	server := browser.New(browser.Options{
		Version: "7", Panel: fstest.MapFS{}, Log: zerolog.Nop(),
		Attach: func(ctx context.Context, _ browser.Target, conn io.ReadWriter) error {
			attached <- conn
			select {
			case <-ctx.Done():
			case <-left:
			}
			return nil
		},
	})
	t.Cleanup(server.Close)
	client, response := getPage(t, server, target)
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	page := response.Request.URL // without the token
	conn, _, err := websocket.Dial(t.Context(), page.JoinPath("bridge").String(), &websocket.DialOptions{
		HTTPClient: client, HTTPHeader: http.Header{"Origin": {"http://" + page.Host}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	s = &scene{t: t, page: conn, workspace: <-attached, left: left}
	s.in = bufio.NewReader(s.workspace)
	return s, s.workspaceHears()
}

// workspaceHears returns the next message to the workspace.
func (s *scene) workspaceHears() string {
	s.t.Helper()
	var length int
	if _, err := fmt.Fscanf(s.in, "Content-Length: %d\r\n\r\n", &length); err != nil {
		s.t.Fatal(err)
	}
	frame := make([]byte, length)
	if _, err := io.ReadFull(s.in, frame); err != nil {
		s.t.Fatal(err)
	}
	return string(frame)
}

// ids are those of kept files and of questions.
var ids = regexp.MustCompile(`[A-Z2-7]{26}`)

// TestConversations replays testdata/*.txt: p> is said by the page and p< to it; w> is said by the workspace and w< to it. ID
// is the newest id of a kept file or of a question.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, _ := open(t, browser.Target{Prompts: []string{"Hello"}, Configuration: protocol.Configuration{
				WorkspaceFolders: []protocol.WorkspaceFolder{{Name: "shop", Path: "/shop"}},
			}})
			id := "ID"
			for line := range strings.Lines(string(text)) {
				says, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				got := message
				switch says {
				case "p>":
					err = s.page.Write(t.Context(), websocket.MessageText, []byte(strings.ReplaceAll(message, "ID", id)))
				case "w>":
					_, err = io.WriteString(s.workspace, rpctest.Frame(message))
				case "w<":
					got = s.workspaceHears()
				case "p<":
					var frame []byte
					_, frame, err = s.page.Read(t.Context())
					if found := ids.Find(frame); found != nil {
						id = string(found)
					}
					got = ids.ReplaceAllString(string(frame), "ID")
					if runtime.GOOS == "windows" {
						got = strings.ReplaceAll(got, `\\`, "/") // a path
					}
				case "#", "":
				default:
					t.Fatalf("nobody says %q", line)
				}
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				if diff := cmp.Diff(message, got); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAPageIntroducesItselfAsABrowser(t *testing.T) {
	_, said := open(t, browser.Target{Configuration: protocol.Configuration{ExampleServer: true}})
	var got struct {
		Method string
		Params protocol.InitializeParams
	}
	if err := json.Unmarshal([]byte(said), &got); err != nil {
		t.Fatal(err)
	}
	want := protocol.InitializeParams{
		ProtocolVersion: protocol.Version, ClientInfo: protocol.Implementation{Name: "a browser", Version: "7"},
		Capabilities: protocol.FrontEndCapabilities{
			Elicitation: true, Sampling: true, ConfirmServers: true, OpenURL: true, Apps: true, AppForms: true,
		},
		Configuration: protocol.Configuration{ExampleServer: true},
	}
	if diff := cmp.Diff(want, got.Params); got.Method != "initialize" || diff != "" {
		t.Errorf("%s (-want +got):\n%s", got.Method, diff)
	}
}

func TestAPageThatSaysNoJSONIsLeft(t *testing.T) {
	s, _ := open(t, browser.Target{})
	if err := s.page.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.page.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusInvalidFramePayloadData {
		t.Errorf("the page is left with %v", err)
	}
}

func TestAPageHearsThatItsWorkspaceHasLeft(t *testing.T) {
	s, _ := open(t, browser.Target{})
	close(s.left)
	if _, frame, err := s.page.Read(t.Context()); err == nil {
		t.Errorf("the page heard %s", frame)
	}
}
