package procinfo

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestListenersOnAPort(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::]:0"} {
		t.Run(address, func(t *testing.T) {
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			port := l.Addr().(*net.TCPAddr).Port
			listening, by, err := Listeners(port)
			if err != nil || !listening || !slices.ContainsFunc(by, func(p Process) bool { return p.PID == os.Getpid() }) {
				t.Errorf("Listeners(%d) = %v, %v, %v, want this process", port, listening, by, err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if listening, by, err := Listeners(port); listening || by != nil || err != nil {
				t.Errorf("once it is closed: %v, %v, %v", listening, by, err)
			}
		})
	}
}

func TestTheCommandLineOfAProcess(t *testing.T) {
	p := process(os.Getpid())
	if age := time.Since(p.Since); p.Name == "" || age < -time.Minute || age > time.Hour {
		t.Errorf("this process is %+v", p)
	}
	for _, tt := range []struct {
		process, argv string
		want          bool
	}{
		{"/usr/bin/python3 server.py --all", "python3 server.py --all", true},
		{"python3 server.py", "python3 server.py --all", false},
		{"python3 server.py --all --more", "python3 server.py --all", false},
		{"/bin/sh /opt/server --all", "server --all", true},
		{"/usr/bin/env node /opt/server --all", "/opt/server --all", true},
		{"a b c server", "server", false},
		{"", "server", false},
	} {
		if got := isOf(strings.Fields(tt.process), strings.Fields(tt.argv)); got != tt.want {
			t.Errorf("isOf(%q, %q) = %v", tt.process, tt.argv, got)
		}
	}
	for address, want := range map[string]bool{
		"00000000": true, "0100007F": true, "0200A8C0": false, "": true, "x": false,
		"00000000000000000000000001000000": true, "0000000000000000FFFF00000100007F": true,
		"000080FE000000000000000001000000": false,
	} {
		if address != "" && isOwn(address) != want {
			t.Errorf("isOwn(%q) = %v", address, !want)
		}
	}
}

func TestProcessesThatTheirParentLeftBehind(t *testing.T) {
	// It prints its id once it runs, and stays until its input ends.
	argv := []string{"sh", "-c", "echo $$; read line", fmt.Sprintf("test-%d", os.Getpid())}
	start := func(cmd *exec.Cmd) (pid int) {
		t.Helper()
		input, hold, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		says, output, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(hold.Close(), says.Close()); err != nil {
				t.Error(err)
			}
		})
		cmd.ExtraFiles, cmd.Stdin, cmd.Stdout = []*os.File{input}, input, output
		if err := errors.Join(cmd.Start(), input.Close(), output.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fscanln(says, &pid); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	living := exec.Command(argv[0], argv[1:]...)
	start(living)
	t.Cleanup(func() { _ = living.Process.Kill(); _ = living.Wait() })
	parent := exec.Command("sh", append([]string{"-c", `"$@" <&3 & exit`, "parent"}, argv...)...)
	pid := start(parent)
	if err := parent.Wait(); err != nil {
		t.Fatal(err)
	}
	left, err := Orphans(argv)
	if err != nil || len(left) != 1 || left[0].PID != pid || left[0].Name != "sh" || left[0].Since.IsZero() {
		t.Errorf("Orphans = %v, %v, want %d alone", left, err, pid)
	}
	if left, err := Orphans(append(argv[:3:3], "another")); len(left) != 0 || err != nil {
		t.Errorf("of another command: %v, %v", left, err)
	}
}

func TestTheUserOfAConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	local, remote := conn.LocalAddr().(*net.TCPAddr).AddrPort(), conn.RemoteAddr().(*net.TCPAddr).AddrPort()
	if uid, err := UserOf(local, remote); uid != os.Geteuid() || err != nil {
		t.Errorf("UserOf = %d, %v, want this process's user, %d", uid, err, os.Geteuid())
	}
	if uid, err := diagnose(local, remote); uid != os.Geteuid() || err != nil {
		t.Errorf("the kernel says %d, %v", uid, err)
	}
	if uid, err := UserOf(local, local); err == nil {
		t.Errorf("a connection that is not there is of user %d", uid)
	}
	table := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: " + hexAddress(local) + " " + hexAddress(remote) + " 01 00000000:00000000 00:00000000 00000000 65534        0 1 1\n"
	if uid, err := userOf(strings.NewReader(table), hexAddress(local), hexAddress(remote)); uid != 65534 || err != nil {
		t.Errorf("of another user's: %d, %v", uid, err)
	}
}
