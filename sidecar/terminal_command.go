package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"assent/sidecar/terminal"
)

// isTerminalCommand reports whether a command is of the front end for a terminal.
func isTerminalCommand(name string) bool {
	for _, c := range terminal.Commands {
		if c.Name == name {
			return true
		}
	}
	return false
}

// runTerminal is that front end. It returns the exit code.
func runTerminal(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	folder, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(stderr, "assent: %v\n", err)
		return terminal.ExitFailed
	}
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	// An interrupt ends ctx. Here the first one is to cancel the call in good order.
	return terminal.Run(context.WithoutCancel(ctx), slices.Clone(args), terminal.Options{
		Version: version, Folder: folder, Stdin: stdin, Stdout: stdout, Stderr: stderr, Interrupts: interrupts,
	})
}
