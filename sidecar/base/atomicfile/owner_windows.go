package atomicfile

import (
	"io/fs"
	"os"
)

// owner is nothing on Windows, where a new file belongs to the folder's rules.
type owner struct{}

func ownerOf(fs.FileInfo) owner { return owner{} }

// hasHardLinks is not looked up on Windows, where hard links of settings are rare.
func hasHardLinks(fs.FileInfo) bool { return false }

func (owner) canStay() bool { return true }

func (owner) give(*os.File) error { return nil }
