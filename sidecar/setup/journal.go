package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gofrs/flock"

	"assent/sidecar/base/atomicfile"
	"assent/sidecar/setup/vault"
)

// run records one Apply. Its folder holds this record, as journal.json, and the copies of the files.
type run struct {
	dir string
	// Files are the hosts', in the order in which they were changed; User is the person's own.
	Files []*change `json:"files"`
	User  *change   `json:"user,omitempty"`
	// Added are the servers that were added to the person's own file, as they were written.
	Added map[string]json.RawMessage `json:"added,omitempty"`
	// Secrets are the names of the sealed secrets.
	Secrets []string `json:"secrets,omitempty"`
	// Sealed says that the copies are sealed, because the files had secrets that were moved.
	Sealed bool `json:"sealed,omitempty"`
}

// change is a file that was changed.
type change struct {
	Path string `json:"path"`
	// Copy is the name of its copy, empty if there was no file.
	Copy string `json:"copy,omitempty"`
	// Before and After are the SHA-256 of the file, in hexadecimal.
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
	// MadeDir is the outermost folder that Apply made for the file.
	MadeDir string `json:"madeDir,omitempty"`
	// Entries are Assent's entries in a host's file.
	Entries []entryEdit `json:"entries,omitempty"`
	// Hook is the command of the hooks that were added to Claude Code's settings; empty for another change.
	Hook string `json:"hook,omitempty"`
	// Plugin says that the whole file is Assent's plugin for opencode.
	Plugin bool `json:"plugin,omitempty"`
	// Done says that the file is restored.
	Done bool `json:"done,omitempty"`
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// lock keeps other runs out until the returned function is called. Without a run to restore, that removes the lock's file.
func (o Options) lock() (unlock func() error, err error) {
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(o.Folder, "setup.lock")
	l := flock.New(path)
	got, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if !got || !isAt(l, path) {
		return nil, errors.Join(errors.New("another assent setup or assent restore runs: wait for it"), l.Close())
	}
	if err := os.MkdirAll(o.runsDir(), 0o700); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return func() error {
		if os.Remove(o.runsDir()) != nil { // it has runs
			return l.Unlock()
		}
		early := os.Remove(path)
		err := l.Unlock()
		if early != nil { // Windows removes no open file
			_ = os.Remove(path) // another run may have it by now
		}
		return err
	}, nil
}

// isAt reports whether a lock's file is still the one at its path: the run that had the lock before may have removed it.
func isAt(l *flock.Flock, path string) bool {
	opened, err := l.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(opened, there)
}

// Restorable reports whether there is something to restore.
func (o Options) Restorable() (bool, error) {
	runs, err := o.runs()
	return len(runs) > 0, err
}

func (o Options) runsDir() string { return filepath.Join(o.Folder, "setup") }

// runs returns the earlier runs, the last one first.
func (o Options) runs() ([]*run, error) {
	entries, err := os.ReadDir(o.runsDir())
	if err != nil {
		if isNotThere(err) {
			return nil, nil
		}
		return nil, err
	}
	var all []*run
	for _, e := range entries {
		r := &run{dir: filepath.Join(o.runsDir(), e.Name())}
		text, err := os.ReadFile(filepath.Join(r.dir, "journal.json"))
		if isNotThere(err) {
			continue // it was killed before it changed a file
		}
		if err == nil {
			err = json.Unmarshal(text, r)
		}
		if err != nil {
			return nil, fmt.Errorf("the journal in %s cannot be read, so nothing was changed: %w", r.dir, err)
		}
		all = append(all, r)
	}
	slices.Reverse(all) // their names are numbers of one width
	return all, nil
}

// made returns the entries that earlier runs made in hosts' files, by path.
func (o Options) made() (map[string][]entryEdit, error) {
	runs, err := o.runs()
	made := map[string][]entryEdit{}
	for _, r := range runs {
		for _, c := range r.Files {
			if !c.Done {
				made[c.Path] = append(made[c.Path], c.Entries...)
			}
		}
	}
	return made, err
}

// newRun makes the folder of a run.
func (o Options) newRun() (*run, error) {
	entries, err := os.ReadDir(o.runsDir())
	if err != nil {
		return nil, err
	}
	last := 0
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			last = max(last, n)
		}
	}
	r := &run{dir: filepath.Join(o.runsDir(), fmt.Sprintf("%06d", last+1))}
	return r, os.Mkdir(r.dir, 0o700)
}

// keep copies a file, and returns the record of its coming change.
func (r *run) keep(v *vault.Vault, f *atomicfile.File, after []byte, entries []entryEdit) (*change, error) {
	c := &change{Path: f.Path, After: hash(after), Entries: entries}
	if !f.Exists {
		for dir := filepath.Dir(f.Path); ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
				break
			}
			c.MadeDir = dir
		}
		return c, nil
	}
	c.Before = hash(f.Data)
	c.Copy = fmt.Sprintf("%d.copy", len(r.Files)+1)
	data := f.Data
	if r.Sealed {
		var err error
		if data, err = v.Seal(data); err != nil {
			return nil, err
		}
	}
	return c, atomicfile.Write(filepath.Join(r.dir, c.Copy), data)
}

// copyOf returns the earlier bytes of a file, nil if there was no file.
func (r *run) copyOf(v *vault.Vault, c *change) ([]byte, error) {
	if c.Copy == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(r.dir, c.Copy))
	if err == nil && r.Sealed {
		data, err = v.Unseal(data)
	}
	if err == nil && hash(data) != c.Before {
		err = errors.New("it was changed")
	}
	if err != nil {
		return nil, fmt.Errorf("the copy in %s cannot be read: %w", r.dir, err)
	}
	return data, nil
}

func (r *run) save() error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(r.dir, "journal.json"), text)
}
