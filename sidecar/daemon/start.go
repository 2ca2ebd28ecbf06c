package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"assent/sidecar/base/leftover"
)

// report is the line that a daemon writes to its stdout before it closes it.
type report struct {
	Ready bool   `json:"ready"`
	Error string `json:"error,omitempty"`
}

// tell reports to the starter that the daemon listens, or why it does not.
func tell(to io.WriteCloser, err error) {
	if to == nil {
		return
	}
	r := report{Ready: err == nil}
	if err != nil {
		r.Error = err.Error()
	}
	if line, err := json.Marshal(r); err == nil {
		_, _ = to.Write(append(line, '\n')) // the starter may have ended
	}
	_ = to.Close()
}

// start starts a daemon that is detached from this process, and waits until it listens.
func (o Options) start(ctx context.Context) error {
	program := o.Program
	if program == nil {
		path, err := os.Executable()
		if err != nil {
			return err
		}
		program = []string{path, "daemon", "run"}
	}
	told, process, err := launch(program)
	if err != nil {
		return err
	}
	timer := time.NewTimer(o.timeouts.orDefault().start)
	defer timer.Stop()
	select {
	case err := <-told:
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("it ended at once: see %s", o.Address.Log)
		}
		return err
	case <-timer.C:
		return errors.Join(fmt.Errorf("process %d is not ready: see %s", process.Pid, o.Address.Log), process.Kill())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// launch starts a process. Told gets nil when it is ready, or an error. A goroutine waits for the process to end.
func launch(program []string) (told <-chan error, process *os.Process, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, null.Close())
	}
	process, err = startDetached(program, &os.ProcAttr{
		// The daemon outlives the process that had the token.
		Env: leftover.Unmarked(os.Environ()), Files: []*os.File{null, write, null},
	})
	if err := errors.Join(err, write.Close(), null.Close()); err != nil {
		return nil, nil, errors.Join(err, read.Close())
	}
	answer := make(chan error, 1)
	go func() {
		answer <- readReport(read)
		_ = read.Close()
		_, _ = process.Wait() // its log says how it ended
	}()
	return answer, process, nil
}

func readReport(from io.Reader) error {
	line, err := bufio.NewReader(io.LimitReader(from, maxHello)).ReadBytes('\n')
	if err != nil {
		return err
	}
	var r report
	switch err := json.Unmarshal(line, &r); {
	case err != nil:
		return fmt.Errorf("it said %q: %w", line, err)
	case r.Error != "":
		return errors.New(r.Error)
	case !r.Ready:
		return fmt.Errorf("it said %q", line)
	}
	return nil
}
