package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
)

// FolderVariable is the environment variable for another folder of the daemon, for tests and containers. Only processes
// with the same folder reach the same daemon.
const FolderVariable = "ASSENT_DAEMON_DIR"

// Address is where a person's daemon is on this machine. [Locate] makes one.
type Address struct {
	// Folder holds the files. Other users cannot enter it.
	Folder string
	// Socket is the path of a Unix socket, or the name of a pipe on Windows.
	Socket string
	// SocketFolder is the folder of the socket: Folder, or another one if the path would be too long. It is empty for a pipe.
	SocketFolder string
	// Lock is the file of the instance lock, which the daemon holds while it lives.
	Lock string
	// StartLock is the file on which a daemon holds a lock until it listens, or has given up; LaunchLock is the one for
	// starters.
	StartLock, LaunchLock string
	// Holder is the file that says which process has the lock.
	Holder string
	// Log is the daemon's log.
	Log string
	// Hosts is the file with the hosts that use the gateway over HTTP.
	Hosts string
}

// place holds the values that determine an address. Except for FolderVariable, the environment is not among them:
// programs that start front ends set TMPDIR, HOME and XDG_RUNTIME_DIR, and each would get its own daemon.
type place struct {
	// os is a runtime.GOOS.
	os string
	// home is the person's home folder in the user database.
	home string
	// user is the person's id: a number, or a SID on Windows.
	user string
	// machine is a procinfo.ID. Machines may share the home, and locks on it, but never a socket.
	machine string
	// override is the folder that replaces the one in the home; empty for none.
	override string
}

const (
	// maxSocketLinux is sizeof(sun_path), with the zero that Go adds.
	maxSocketLinux = 107
	// maxSocketDarwin is the same on macOS.
	maxSocketDarwin = 103
)

// Locate returns the address of this person's daemon on this machine. It changes nothing.
func Locate() (Address, error) {
	p, err := here()
	if err != nil {
		return Address{}, fmt.Errorf("find the place of the daemon: %w", err)
	}
	p.override = os.Getenv(FolderVariable)
	return p.address()
}

// Apart returns an address of its own for a process that is the daemon of one command. Nothing else can reach it, so it lives
// as long as its command. The caller calls remove at the end.
func Apart() (a Address, remove func() error, err error) {
	p, err := here()
	if err == nil {
		p.override, err = os.MkdirTemp("", "assent-apart-")
	}
	if err != nil {
		return Address{}, nil, fmt.Errorf("make a folder for this command: %w", err)
	}
	a, err = p.address()
	remove = func() error { return errors.Join(os.RemoveAll(p.override), os.RemoveAll(a.SocketFolder)) }
	if err != nil {
		return Address{}, nil, errors.Join(err, os.RemoveAll(p.override))
	}
	return a, remove, nil
}

func (p place) address() (Address, error) {
	windows := p.os == "windows"
	separator := "/"
	folder := p.home + "/.assent"
	if windows {
		separator = `\`
		folder = p.home + `\AppData\Local\assent`
	}
	if p.override != "" {
		folder = strings.TrimRight(p.override, separator)
	} else if p.home == "" || p.home == "/" {
		return Address{}, fmt.Errorf("the user database has no home folder for the user %s: set %s to a folder for Assent's daemon", p.user, FolderVariable)
	}
	if !windows && !strings.HasPrefix(folder, "/") || windows && !strings.Contains(folder, `:\`) && !strings.HasPrefix(folder, `\\`) {
		return Address{}, fmt.Errorf("the folder of Assent's daemon is %q and must be an absolute path: set %s", folder, FolderVariable)
	}
	name := "daemon"
	if !windows {
		if p.machine == "" {
			return Address{}, errors.New("this machine has no id")
		}
		name += "-" + short(p.machine)
	}
	file := func(suffix string) string { return folder + separator + name + suffix }
	a := Address{
		Folder: folder, SocketFolder: folder,
		Socket: file(".sock"), Lock: file(".lock"), StartLock: file(".start"), LaunchLock: file(".launch"), Holder: file(".json"), Log: file(".log"), Hosts: file("-hosts.json"),
	}
	if windows {
		a.Socket, a.SocketFolder = `\\.\pipe\assent-`+short(p.user+" "+strings.ToLower(folder)), ""
		return a, nil
	}
	limit := maxSocketLinux
	if p.os == "darwin" {
		limit = maxSocketDarwin
	}
	if len(a.Socket) > limit {
		// Not os.TempDir, which reads TMPDIR.
		a.SocketFolder = "/tmp/assent-" + p.user + "-" + short(folder)
		a.Socket = a.SocketFolder + "/" + name + ".sock"
	}
	if len(a.Socket) > limit { // the user's id may be a long text
		return Address{}, fmt.Errorf("the path of the daemon's socket has %d bytes, and the system takes %d: %s", len(a.Socket), limit, a.Socket)
	}
	return a, nil
}

// short returns a short name for a text that may be long or private.
func short(text string) string {
	sum := sha256.Sum256([]byte("assent daemon " + text))
	return hex.EncodeToString(sum[:6])
}
