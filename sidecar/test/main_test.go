package test

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"assent/sidecar/cmd"
	"assent/sidecar/daemon"
	"assent/sidecar/gateway"
	"assent/sidecar/workspace/rpc/rpctest"
)

// atExit has programs with the race detector end at once: by default each sleeps for a second first, and the tests
// run hundreds.
const atExit = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if err := os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" "+atExit)); err != nil {
		panic(err)
	}
	testscript.Main(elsewhere{m}, map[string]func(){"assent": func() { os.Exit(cmd.Main()) }, "agent": agent, "asker": asker, "asks-all": asksAll, "scripted": scripted, "worker": worker, "hostile": hostile, "legacy-asker": legacyAsker, "logs-answers": logsAnswers, "neighbour": neighbour, "never-ends": neverEnds, "changes-list": changesList, "placed": placed, "returns-much": returnsMuch})
}

// elsewhere runs the tests with a home folder of their own: a program that is told no folder must not use the person's.
type elsewhere struct{ tests *testing.M }

// sharedHome holds the folder of the daemon that tests share.
var sharedHome string

// sharedDir returns a folder for a test of the shared daemon. Its servers may write there after the test, so the folder
// stays until the daemon has ended.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(sharedHome, "dir-")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Run implements [testscript.TestingM].
func (e elsewhere) Run() int {
	home, err := os.MkdirTemp("", "assent-test-home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	sharedHome = home
	for name, folder := range map[string]string{
		"HOME": "", "XDG_CONFIG_HOME": ".config", "XDG_CACHE_HOME": ".cache", // Unix
		"USERPROFILE": "", "AppData": "config", "LocalAppData": "cache", // Windows
		daemon.FolderVariable: "daemon", // no test meets the person's daemon
	} {
		if err := os.Setenv(name, filepath.Join(home, folder)); err != nil {
			panic(err)
		}
	}
	for _, name := range gateway.SessionVariables() { // an agent may run the tests
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	code := e.tests.Run()
	if err := endDaemon(os.Getenv(daemon.FolderVariable)); err != nil {
		panic(err)
	}
	return code
}

// TestScripts runs the real binary. Besides the usual commands a script has
//
//	converse FILE ARGS
//
// which runs "assent serve ARGS", sends each line of FILE as a frame, waits for the answers, closes
// stdin and waits for the end. TASK-ID stands for the task that was created last. What the sidecar said is in said.json, its log in log.json. And
//
//	sql FOLDER STATEMENT
//
// which does to the store in a folder what Assent never would. And
//
//	exitcode CODE PROGRAM ARGS
//
// which is exec, for a program that is to exit with a code, or with one of several: "0|6". GUIDE is the path of docs/guide.md.
func TestScripts(t *testing.T) {
	guide, err := filepath.Abs("../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Setup: func(env *testscript.Env) error {
			env.Setenv("GUIDE", guide)
			program, err := exec.LookPath("assent")
			if err != nil {
				return err
			}
			escaped, err := json.Marshal(program) // as the files of hosts have it
			if err != nil {
				return err
			}
			env.Setenv("ASSENT", strings.Trim(string(escaped), `"`))
			folder := filepath.Join(env.WorkDir, ".daemon")
			env.Setenv(daemon.FolderVariable, folder)
			env.Defer(func() {
				if err := endDaemon(folder); err != nil {
					t.Error(err)
				}
			})
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Dir:                 "testdata/script",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"converse": converse, "sql": alter, "exitcode": exitCode},
		RequireExplicitExec: true,
	})
}

func exitCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if !slices.Contains(strings.Split(args[0], "|"), strconv.Itoa(code)) {
		ts.Fatalf("%s exited with %d, want %s", args[1], code, args[0])
	}
}

func alter(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", filepath.Join(ts.MkAbs(args[0]), "assent.db"))
	ts.Check(err)
	_, err = db.Exec(args[1])
	ts.Check(errors.Join(err, db.Close()))
}

func converse(ts *testscript.TestScript, _ bool, args []string) {
	log, err := os.Create(ts.MkAbs("log.json"))
	ts.Check(err)
	defer log.Close()
	said, err := os.Create(ts.MkAbs("said.json"))
	ts.Check(err)
	defer said.Close()

	assent := assentIn(ts.Getenv(daemon.FolderVariable), append([]string{"serve"}, args[1:]...)...)
	assent.Dir, assent.Stderr = ts.MkAbs("."), log
	stdin, err := assent.StdinPipe()
	ts.Check(err)
	stdout, err := assent.StdoutPipe()
	ts.Check(err)
	ts.Check(assent.Start())
	out := bufio.NewReader(stdout)
	taskID := ""
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		line = strings.ReplaceAll(strings.TrimSpace(line), "TASK-ID", taskID)
		_, err := io.WriteString(stdin, rpctest.Frame(line))
		ts.Check(err)
		for {
			message, err := rpctest.ReadFrame(out)
			ts.Check(err)
			fmt.Fprintf(said, "%s\n", message)
			if isAnswer(ts, line, message) {
				if id := createdTask(ts, line, message); id != "" {
					taskID = id
				}
				break
			}
		}
	}
	ts.Check(stdin.Close())
	_, err = io.Copy(said, out)
	ts.Check(err)
	ts.Check(assent.Wait())
}

// createdTask returns the id that answers a request for a new task; empty for any other answer.
func createdTask(ts *testscript.TestScript, request string, message []byte) string {
	if !strings.Contains(request, `"method":"task/create"`) {
		return ""
	}
	var answer struct{ Result struct{ ID string } }
	ts.Check(json.Unmarshal(message, &answer))
	return answer.Result.ID
}

func isAnswer(ts *testscript.TestScript, request string, message []byte) bool {
	var asked, got rpctest.Message
	ts.Check(json.Unmarshal([]byte(request), &asked))
	ts.Check(json.Unmarshal(message, &got))
	return got.Method == "" && reflect.DeepEqual(got.ID, asked.ID)
}
