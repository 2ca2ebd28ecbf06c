package browser

import (
	"embed"
	"io/fs"
)

// The build puts the panel's files into the folder panel. A build without them serves everything but the page.
//
//go:embed all:panel
var files embed.FS

// Panel returns the files of the panel that this program was built with.
func Panel() fs.FS {
	panel, err := fs.Sub(files, "panel")
	if err != nil {
		panic(err) // the name is valid
	}
	return panel
}
