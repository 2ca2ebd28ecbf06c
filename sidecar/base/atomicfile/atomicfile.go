// Package atomicfile replaces files in one step: a reader finds the old text or the new one, also after a kill.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces a file, which the person alone can read. If it fails, the old file stays.
func Write(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
