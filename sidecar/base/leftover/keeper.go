package leftover

import (
	"errors"
	"os"
)

// Command is the name of the program's command that calls [EndOf]. Its argument is the file of a run.
const Command = "end-leftovers"

// wait is a script that waits for the end of its input, and then executes this program. A shell that waits needs less
// memory than this program would.
const wait = `read -r _; exec "$0" "$@"`

// keeper is a process that waits for this one to be killed.
type keeper struct {
	process *os.Process
	// pipe is the end for writing. It closes with this process, and nothing is ever written to it.
	pipe *os.File
}

// startKeeper starts a process that survives this one, and its group and its session.
func startKeeper(path string) (*keeper, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, null.Close())
	}
	process, err := os.StartProcess("/bin/sh", []string{"sh", "-c", wait, program, Command, path}, &os.ProcAttr{
		Dir: "/", Env: Unmarked(os.Environ()), Files: []*os.File{read, null, null}, Sys: ownSession(),
	})
	if err = errors.Join(err, read.Close(), null.Close()); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	return &keeper{process, write}, nil
}

// end kills the keeper, which is not needed any more. A nil keeper is none.
func (k *keeper) end() error {
	if k == nil {
		return nil
	}
	if err := k.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return errors.Join(err, k.pipe.Close())
	}
	_, err := k.process.Wait()
	return errors.Join(err, k.pipe.Close())
}
