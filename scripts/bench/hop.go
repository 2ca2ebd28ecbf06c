package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// shimCommand makes this program copy bytes between its pipes and the socket of an argument: half of what a gateway in two
	// processes costs by itself.
	shimCommand = "shim"
	// hopCommand is the other half. It listens on the socket, and copies bytes between it and the raw server, which it starts.
	hopCommand = "hop"
	// proxyCommand makes this program a gateway on go-sdk, in one process: it passes calls to the raw server.
	proxyCommand = "proxy"
)

// copyShim is the process of the host.
func copyShim(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("a shim has a socket")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", args[0])
	if err != nil {
		return err
	}
	// The runtime waits for stdin, as it does in `assent gateway`, rather than a thread.
	if err := syscall.SetNonblock(syscall.Stdin, true); err != nil {
		return err
	}
	return copyBoth(conn, os.NewFile(uintptr(syscall.Stdin), "stdin"), os.Stdout)
}

// copyHop is the process that all hosts share.
func copyHop(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("a hop has a socket")
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", args[0])
	if err != nil {
		return err
	}
	fmt.Println("listening")
	conn, err := listener.Accept()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server, err := rawServerOf(ctx)
	if err != nil {
		return err
	}
	stdin, err := server.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	err = copyBoth(conn, stdout, stdin)
	return errors.Join(err, server.Wait(), listener.Close())
}

// rawServerOf is the raw server of such a process.
func rawServerOf(ctx context.Context) (*exec.Cmd, error) {
	self, err := os.Executable()
	return exec.CommandContext(ctx, self, rawServerCommand), err
}

// copyBoth copies until either side ends.
func copyBoth(conn net.Conn, in io.ReadCloser, out io.WriteCloser) error {
	done := make(chan error, 2)
	go func() { done <- copyBytes(conn, in) }()
	go func() { done <- copyBytes(out, conn) }()
	err := <-done
	err = errors.Join(err, conn.Close(), out.Close(), in.Close())
	<-done // fails, since all is closed
	return err
}

// copyBytes copies through a buffer, as who looks at the bytes has to. [io.Copy] would have the system do it.
func copyBytes(to io.Writer, from io.Reader) error {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// serveProxy passes the tools of the raw server on with go-sdk alone.
func serveProxy(ctx context.Context) error {
	raw, err := rawServerOf(ctx)
	if err != nil {
		return err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "proxy", Version: "1"}, nil)
	upstream, err := client.Connect(ctx, &mcp.CommandTransport{Command: raw}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "proxy", Version: "1"}, nil)
	for tool, err := range upstream.Tools(ctx, nil) {
		if err != nil {
			return errors.Join(err, upstream.Close())
		}
		server.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return upstream.CallTool(ctx, &mcp.CallToolParams{Name: r.Params.Name, Arguments: json.RawMessage(r.Params.Arguments)})
		})
	}
	return errors.Join(server.Run(ctx, &mcp.StdioTransport{}), upstream.Close())
}
