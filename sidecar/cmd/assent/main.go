// Command assent is the program of Assent. "go install" names a program after its folder, which is why it has one of its own.
package main

import (
	"os"

	"assent/sidecar/cmd"
)

func main() { os.Exit(cmd.Main()) }
