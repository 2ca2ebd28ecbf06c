// Command rawserver plays an MCP server from a transcript, over stdio: see package wiretest, which builds it.
package main

import (
	"fmt"
	"os"

	"assent/sidecar/wire/wiretest"
)

func main() {
	if err := wiretest.Play(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
