package loopback

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"
)

// The kernel knows the user of a connection: this user's is served, and one of another user is closed before it is read.
func TestAnotherUserOfTheMachine(t *testing.T) {
	l, err := Listen(t.Context(), 0, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(http.HandlerFunc(answer), 1<<10)
	ended := make(chan error)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-ended })
	want := map[int]string{os.Getuid(): "HTTP/1.0 200 OK"}
	if os.Getuid() == 0 { // only root can become another user
		want[65534] = ""
	}
	for uid, want := range want {
		command := exec.CommandContext(t.Context(), "bash", "-c", fmt.Sprintf(
			`exec 3<>/dev/tcp/127.0.0.1/%d && printf 'GET / HTTP/1.0\r\n\r\n' >&3; head -n 1 <&3`, l.Port()))
		if uid != os.Getuid() {
			command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		}
		command.Dir = "/"
		got, _ := command.Output() // a connection that was closed makes it fail
		if strings.TrimSpace(string(got)) != want {
			t.Errorf("the user %d gets %q, want %q", uid, got, want)
		}
	}
}
