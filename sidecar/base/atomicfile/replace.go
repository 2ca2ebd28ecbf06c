package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// File is a file as it was read. [File.Replace] replaces it later, unless it has changed since then.
type File struct {
	// Path is the file's own path, after all symbolic links.
	Path string
	// Exists reports whether there is a file, and Data has its bytes.
	Exists bool
	Data   []byte
	mode   fs.FileMode
	owner  owner
	linked bool // by hard links, under other names too
	limit  int64
}

// Read reads a regular file of at most limit bytes, or finds that there is none. It follows a symbolic link: Replace then
// replaces the target, and the link stays.
func Read(path string, limit int64) (*File, error) {
	f := &File{Path: path, mode: 0o600, limit: limit}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // a folder above is missing, or a file
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s is a link to a file that is not there: make the file, or remove the link", path)
		}
		return f, nil
	}
	if err != nil {
		if link, isLink := os.Lstat(path); isLink == nil && link.Mode()&fs.ModeSymlink != 0 && !errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("%s is a link that does not lead to a file: remove it", path)
		}
		return nil, err
	}
	info, err := os.Stat(target)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file: move it away", path)
	}
	f.Path, f.Exists, f.mode, f.owner, f.linked = target, true, info.Mode().Perm(), ownerOf(info), hasHardLinks(info)
	f.Data, err = f.read()
	return f, err
}

func (f *File) read() ([]byte, error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, f.limit+1))
	if err == nil && int64(len(data)) > f.limit {
		err = fmt.Errorf("%s has more than %d bytes", f.Path, f.limit)
	}
	return data, err
}

// ErrChanged says that a file changed between [Read] and [File.Replace].
var ErrChanged = errors.New("was changed at the same time: try again")

// Writable returns an error if the file is read-only, or belongs to another user. Replace could replace it, but the person
// does not want that, and the other user would lose the file.
func (f *File) Writable() error {
	if f.Exists && !f.owner.canStay() {
		return fmt.Errorf("%s belongs to another user: leave it to that user, or make it yours", f.Path)
	}
	if f.Exists && f.mode&0o200 == 0 {
		return fmt.Errorf("%s is read-only: make it writable", f.Path)
	}
	return nil
}

// Replace gives the file another content in one step, and keeps its mode and owner. If the file has changed since Read, it
// stays, and the error is [ErrChanged]. A change in the microseconds between this check and the step is lost. A file with
// hard links is written in place, so that its other names have the new content too.
func (f *File) Replace(data []byte) (err error) {
	if err := f.Writable(); err != nil {
		return err
	}
	if f.linked {
		return f.writeInPlace(data)
	}
	temp, err := os.CreateTemp(filepath.Dir(f.Path), "."+filepath.Base(f.Path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	_, err = temp.Write(data)
	if f.Exists {
		err = errors.Join(err, f.owner.give(temp))
	}
	if err = errors.Join(err, temp.Chmod(f.mode), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), f.Path); err != nil {
		return err
	}
	f.Exists, f.Data = true, data
	return nil
}

func (f *File) writeInPlace(data []byte) error {
	if err := f.unchanged(); err != nil {
		return err
	}
	file, err := os.OpenFile(f.Path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	write := func(data []byte) error {
		_, err := file.WriteAt(data, 0)
		if err == nil {
			err = file.Truncate(int64(len(data)))
		}
		return errors.Join(err, file.Sync())
	}
	if err := write(data); err != nil { // the disk may be full; the earlier bytes have their place
		return errors.Join(err, write(f.Data), file.Close())
	}
	f.Data = data
	return file.Close()
}

// Remove removes the file, unless it is not as it was read.
func (f *File) Remove() error {
	if err := errors.Join(f.Writable(), f.unchanged()); err != nil {
		return err
	}
	if err := os.Remove(f.Path); err != nil {
		return err
	}
	f.Exists, f.Data = false, nil
	return nil
}

func (f *File) unchanged() error {
	now, err := f.read()
	if errors.Is(err, fs.ErrNotExist) {
		if !f.Exists {
			return nil
		}
		return fmt.Errorf("%s %w", f.Path, ErrChanged)
	}
	if err != nil {
		return err
	}
	if !f.Exists || !bytes.Equal(now, f.Data) {
		return fmt.Errorf("%s %w", f.Path, ErrChanged)
	}
	return nil
}
