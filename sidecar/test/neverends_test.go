//go:build unix

package test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// neverEnds is a server that does not speak, and does not end when its stdin does or when it is asked to. It writes
// its process id to the FIFO that its argument names, and keeps that open. So does its child, which has a session of its
// own; but there is none after "alone".
func neverEnds() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	fifo, err := os.OpenFile(os.Args[1], os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	if len(os.Args) == 2 {
		child := exec.Command(os.Args[0], os.Args[1], "alone")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			panic(err)
		}
	}
	fmt.Fprintln(fifo, os.Getpid())
	time.Sleep(time.Hour) // it is killed long before
}
