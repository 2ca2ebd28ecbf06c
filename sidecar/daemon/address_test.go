package daemon

import (
	"strings"
	"testing"
)

func TestWhereTheDaemonIs(t *testing.T) {
	const sid = "S-1-5-21-1-2-3-1001"
	long := "/home/" + strings.Repeat("x", 80)
	for _, tt := range []struct {
		name  string
		place place
		want  Address // only the members that the case is about
		fails string
	}{
		{name: "linux", place: place{os: "linux", home: "/home/ada", user: "1000", machine: "m"}, want: Address{
			Folder: "/home/ada/.assent", SocketFolder: "/home/ada/.assent", Socket: "/home/ada/.assent/daemon-a310a6d9ad31.sock",
			Lock: "/home/ada/.assent/daemon-a310a6d9ad31.lock", StartLock: "/home/ada/.assent/daemon-a310a6d9ad31.start", LaunchLock: "/home/ada/.assent/daemon-a310a6d9ad31.launch",
			Holder: "/home/ada/.assent/daemon-a310a6d9ad31.json", Log: "/home/ada/.assent/daemon-a310a6d9ad31.log", Hosts: "/home/ada/.assent/daemon-a310a6d9ad31-hosts.json",
		}},
		{name: "another machine with the same home", place: place{os: "linux", home: "/home/ada", user: "1000", machine: "n"}, want: Address{
			Socket: "/home/ada/.assent/daemon-060655c30b46.sock", Lock: "/home/ada/.assent/daemon-060655c30b46.lock",
		}},
		{name: "macOS", place: place{os: "darwin", home: "/Users/ada", user: "501", machine: "m"}, want: Address{
			Folder: "/Users/ada/.assent", Socket: "/Users/ada/.assent/daemon-a310a6d9ad31.sock",
		}},
		{name: "windows", place: place{os: "windows", home: `C:\Users\ada`, user: sid}, want: Address{
			Folder: `C:\Users\ada\AppData\Local\assent`, Socket: `\\.\pipe\assent-b1df06f1aa6d`, Lock: `C:\Users\ada\AppData\Local\assent\daemon.lock`,
		}},
		{name: "another folder on windows", place: place{os: "windows", home: `C:\Users\ada`, user: sid, override: `D:\kept\`}, want: Address{
			Folder: `D:\kept`, Socket: `\\.\pipe\assent-1219b28fb193`,
		}},
		{name: "another folder", place: place{os: "linux", home: "/home/ada", user: "1000", machine: "m", override: "/kept/"}, want: Address{
			Folder: "/kept", SocketFolder: "/kept", Socket: "/kept/daemon-a310a6d9ad31.sock",
		}},
		{name: "another folder for a user without a home", place: place{os: "linux", user: "1000", machine: "m", override: "/kept"}, want: Address{Folder: "/kept"}},
		{name: "a long path", place: place{os: "linux", home: long, user: "1000", machine: "m"}, want: Address{
			Folder: long + "/.assent", SocketFolder: "/tmp/assent-1000-117df7480803", Socket: "/tmp/assent-1000-117df7480803/daemon-a310a6d9ad31.sock",
			Lock: long + "/.assent/daemon-a310a6d9ad31.lock",
		}},
		{name: "as long as Linux takes", place: place{os: "linux", user: "1", machine: "m", override: "/" + strings.Repeat("x", maxSocketLinux-26)}, want: Address{
			SocketFolder: "/" + strings.Repeat("x", maxSocketLinux-26),
		}},
		{name: "as long as macOS takes", place: place{os: "darwin", user: "1", machine: "m", override: "/" + strings.Repeat("x", maxSocketDarwin-26)}, want: Address{
			SocketFolder: "/" + strings.Repeat("x", maxSocketDarwin-26),
		}},
		{name: "longer than macOS takes", place: place{os: "darwin", user: "1", machine: "m", override: "/" + strings.Repeat("x", maxSocketDarwin-25)}, want: Address{
			SocketFolder: "/tmp/assent-1-8ccb06f31f53",
		}},
		{name: "no home", place: place{os: "linux", user: "1000", machine: "m"}, fails: "set ASSENT_DAEMON_DIR"},
		{name: "the root as home", place: place{os: "linux", home: "/", user: "1000", machine: "m"}, fails: "set ASSENT_DAEMON_DIR"},
		{name: "no machine", place: place{os: "linux", home: "/home/ada", user: "1000"}, fails: "no id"},
		{name: "a relative folder", place: place{os: "linux", user: "1000", machine: "m", override: "kept"}, fails: "absolute"},
		{name: "a relative folder on windows", place: place{os: "windows", user: sid, override: `kept`}, fails: "absolute"},
		{name: "a long id of a user", place: place{os: "linux", home: long, user: strings.Repeat("9", 80), machine: "m"}, fails: "the system takes 107"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.place.address()
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("%v, %v, want an error with %q", got, err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, member := range []struct{ name, got, want string }{
				{"Folder", got.Folder, tt.want.Folder},
				{"SocketFolder", got.SocketFolder, tt.want.SocketFolder},
				{"Socket", got.Socket, tt.want.Socket},
				{"Lock", got.Lock, tt.want.Lock},
				{"StartLock", got.StartLock, tt.want.StartLock},
				{"LaunchLock", got.LaunchLock, tt.want.LaunchLock},
				{"Holder", got.Holder, tt.want.Holder},
				{"Log", got.Log, tt.want.Log},
			} {
				if member.want != "" && member.got != member.want {
					t.Errorf("%s = %q, want %q", member.name, member.got, member.want)
				}
			}
		})
	}
}

func TestTheEnvironmentDoesNotMoveTheDaemon(t *testing.T) {
	t.Setenv(FolderVariable, "")
	before, err := Locate()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "USERPROFILE", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	if after, err := Locate(); err != nil || after != before {
		t.Errorf("Locate() = %+v, %v, want %+v", after, err, before)
	}
	t.Setenv(FolderVariable, t.TempDir())
	if after, err := Locate(); err != nil || after.Folder == before.Folder {
		t.Errorf("with %s, Locate() = %+v, %v", FolderVariable, after, err)
	}
}

func TestThePipeIsForThePersonAlone(t *testing.T) {
	if got, want := descriptor("S-1-5-21-7"), "D:P(A;;GA;;;S-1-5-21-7)(A;;GA;;;SY)"; got != want {
		t.Errorf("descriptor = %q, want %q", got, want)
	}
}

func TestWhichBuildIsNewer(t *testing.T) {
	for _, tt := range []struct {
		build, than string
		want        bool
	}{
		{"2.0.0", "1.9.9", true},
		{"1.10.0", "1.9.0", true},
		{"1.9.0", "1.10.0", false},
		{"1.0.0", "1.0.0", false},
		{"1.0", "1.0.0", false},
		{"1.0.1", "1.0", true},
		{"1.0.0", "1.0.0-rc.1", true},
		{"1.0.0-rc.1", "1.0.0", false},
		{"1.0.0-rc.2", "1.0.0-rc.1", true},
		{"1.0.0-rc.10", "1.0.0-rc.9", true},
		{"1.0.0-rc.9", "1.0.0-rc.10", false},
		{"1.0.0-rc", "1.0.0-10", true},
		{"1.0.0-10", "1.0.0-rc", false},
		{"1.0.0-rc.1", "1.0.0-rc", true},
		{"1.0.0-beta.2", "1.0.0-alpha.9", true},
		{"1.0.0-rc-1.2", "1.0.0-rc-1.1", true},
		{"1.0.0+linux", "1.0.0+darwin", false},
		{"1.0.0+a-b", "1.0.0-rc.1", true},
		{"dev 2026-11-22T10:00:01Z", "dev 2026-11-22T10:00:00Z", true},
		{"dev 2026-11-22T10:00:00Z", "dev 2026-11-22T10:00:01Z", false},
		{"dev 2026-11-22T10:00:00Z", "1.0.0", false},
		{"1.0.0", "dev 2026-11-22T10:00:00Z", false},
		{"dev", "1.0.0", false},
		{"", "1.0.0", false},
		{"1.0.0", "", false},
		{"1.-1", "0.1", false},
		{"999999999999999999999999", "1", false},
	} {
		if got := Newer(tt.build, tt.than); got != tt.want {
			t.Errorf("Newer(%q, %q) = %v", tt.build, tt.than, got)
		}
	}
}
