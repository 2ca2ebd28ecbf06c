package test

import (
	"fmt"
	"regexp"
	"testing"

	"assent/sidecar/terminal"
	"assent/sidecar/wire/auth/authtest"
)

func TestTheDoctorKnowsAServerThatRequiresSignIn(t *testing.T) {
	t.Parallel()
	server := authtest.NewServer(t)
	h := newDaemonHome(t)
	doctor := h.command("doctor", "--trust")
	doctor.Dir = folderWith(t, fmt.Sprintf(`{"servers":{"mail":{"url":%q}}}`, server.URL()))
	report, err := doctor.Output()
	if code := doctor.ProcessState.ExitCode(); code != terminal.ExitFailed {
		t.Errorf("the doctor ended with %d, %v; want %d", code, err, terminal.ExitFailed)
	}
	if want := regexp.MustCompile(`^mail\tnot signed in\t\tThe server requires sign-in: .*sign in`); !want.Match(report) {
		t.Errorf("the doctor says %s, want %s", report, want)
	}
}
