package terminal

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"assent/protocol"
)

// press has a control take keys, each character of text being one.
func press(c control, text string, keys ...rune) {
	for _, r := range text {
		c.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	for _, k := range keys {
		c.Update(tea.KeyPressMsg{Code: k})
	}
}

func TestFilledInFields(t *testing.T) {
	ptr := func(s string) *string { return &s }
	yes := true
	number := 2.5
	var many []protocol.Option
	for i := range mostListed + 1 {
		many = append(many, protocol.Option{Value: fmt.Sprintf("value %d", i), Title: fmt.Sprintf("Title %d", i)})
	}
	few := []protocol.Option{{Value: "a", Title: "Same"}, {Value: "b", Title: "Same"}, {Value: "b2", Title: "Other"}}
	numbers := []protocol.Option{{Value: "1", JSON: "1"}, {Value: "2", JSON: "2"}}
	required := protocol.FieldHead{Name: "f", Required: true}
	optional := protocol.FieldHead{Name: "f"}
	tests := []struct {
		name  string
		field protocol.Field
		text  string
		keys  []rune
		want  string // empty: left out
	}{
		{"a text that nobody typed is left out", protocol.StringField{FieldHead: required}, "", nil, ""},
		{"a text", protocol.StringField{FieldHead: required}, " a ", nil, `" a "`},
		{"an empty text", protocol.StringField{FieldHead: required}, `""`, nil, `""`},
		{"an empty default stays", protocol.StringField{FieldHead: optional, Default: ptr("")}, "", nil, `""`},
		{"a default stays as it is", protocol.StringField{FieldHead: optional, Default: ptr("a\x1bb\t")}, "", nil, `"a\u001bb\t"`},
		{"a default is taken away", protocol.StringField{FieldHead: optional, Default: ptr("a")}, "", []rune{tea.KeyBackspace}, ""},
		{"a number", protocol.NumberField{FieldHead: optional}, "1e3", nil, "1e3"},
		{"a number of many digits", protocol.NumberField{FieldHead: optional, Integer: true}, "9007199254740993", nil, "9007199254740993"},
		{"what is no number is for the sidecar to refuse", protocol.NumberField{FieldHead: optional}, "x", nil, `"x"`},
		{"a default number", protocol.NumberField{FieldHead: optional, Default: &number}, "", nil, "2.5"},
		{"a default that no double holds", protocol.NumberField{FieldHead: optional, DefaultText: "9007199254740993"}, "", nil, `"9007199254740993"`},
		{"yes or no that need not be said", protocol.BooleanField{FieldHead: optional}, "", nil, ""},
		{"yes or no that has to be said", protocol.BooleanField{FieldHead: required}, "", []rune{tea.KeyDown}, "false"},
		{"yes or no with a default", protocol.BooleanField{FieldHead: optional, Default: &yes}, "", nil, "true"},
		{"a choice", protocol.ChoiceField{FieldHead: required, Options: few}, "", []rune{tea.KeyDown}, `"b"`},
		{"a choice with a default", protocol.ChoiceField{FieldHead: optional, Options: few, Default: ptr("b2")}, "", nil, `"b2"`},
		{"a choice that is filtered", protocol.ChoiceField{FieldHead: required, Options: few}, "/oth", []rune{tea.KeyEnter}, `"b2"`},
		{"a choice of many is typed", protocol.ChoiceField{FieldHead: optional, Options: many}, "title 7", nil, `"value 7"`},
		{"a choice of many that is none", protocol.ChoiceField{FieldHead: optional, Options: many}, "x", nil, `"x"`},
		{"a choice of none", protocol.ChoiceField{FieldHead: required}, "", nil, ""},
		{"nothing is ticked", protocol.ChoicesField{FieldHead: optional, Options: few}, "", nil, ""},
		{"nothing is ticked, which has to be said", protocol.ChoicesField{FieldHead: required, Options: few}, "", nil, "[]"},
		{"options of one name are two", protocol.ChoicesField{FieldHead: optional, Options: few}, "x", nil, `["a"]`},
		{"defaults are ticked", protocol.ChoicesField{FieldHead: optional, Options: few, Default: []string{"b", "a"}}, "", nil, `["a","b"]`},
		{"an empty default is an answer", protocol.ChoicesField{FieldHead: optional, Options: few, Default: []string{}}, "", nil, "[]"},
		{"several of many are typed", protocol.ChoicesField{FieldHead: optional, Options: many}, "title 7, value 9", nil, `["value 7","value 9"]`},
		{"a choice of numbers", protocol.ChoiceField{FieldHead: required, Options: numbers}, "", []rune{tea.KeyDown}, `2`},
		{"a default that is a number", protocol.ChoiceField{FieldHead: optional, Options: numbers, Default: ptr("2")}, "", nil, `2`},
		{"numbers are ticked", protocol.ChoicesField{FieldHead: optional, Options: numbers, Default: []string{"2", "1"}}, "", nil, `[1,2]`},
		{"lines", protocol.ListField{FieldHead: optional, Item: protocol.StringField{}}, "a, b\n\nc", nil, `["a, b","c"]`},
		{"lines of numbers", protocol.ListField{FieldHead: optional, Item: protocol.NumberField{}}, "1\n 2.50 ", nil, `[1,2.50]`},
		{"lines of yes and no", protocol.ListField{FieldHead: optional, Item: protocol.BooleanField{}}, "y\nno", nil, `[true,false]`},
		{"no line", protocol.ListField{FieldHead: required, Item: protocol.StringField{}}, "-", nil, `[]`},
		{"a list as JSON", protocol.ListField{FieldHead: optional, Item: protocol.StringField{}}, `["a"]`, nil, `["a"]`},
		{"default lines", protocol.ListField{FieldHead: optional, Item: protocol.NumberField{}, Default: []string{"1", "2"}}, "", nil, `[1,2]`},
		{"a list that nobody typed", protocol.ListField{FieldHead: optional, Item: protocol.StringField{}}, "", nil, ``},
		{"JSON", protocol.JSONField{FieldHead: optional}, `{"a":1}`, nil, `{"a":1}`},
		{"a default that is JSON", protocol.JSONField{FieldHead: optional, Default: json.RawMessage(`[1, 2]`)}, "", nil, "[1, 2]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFilling(tt.field, defaultOf(tt.field))
			f.page.control.Focus()
			press(f.page.control, tt.text, tt.keys...)
			if got := string(f.value()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if again := newFilling(tt.field, f.value()); string(again.value()) != tt.want {
				t.Errorf("asked again it is %s, want %s", again.value(), tt.want)
			}
		})
	}
}

func TestADialogFitsIntoAnyTerminal(t *testing.T) {
	long := strings.Repeat("A question that goes on and on. ", 40)
	head := protocol.FieldHead{Name: "name", Title: long, Description: long, Required: true}
	options := []protocol.Option{{Value: long}, {Value: "b\nc"}, {Value: ""}}
	fields := []protocol.Field{
		protocol.StringField{FieldHead: head},
		protocol.NumberField{FieldHead: head},
		protocol.BooleanField{FieldHead: head},
		protocol.ChoiceField{FieldHead: head, Options: options},
		protocol.ChoicesField{FieldHead: head, Options: options},
		protocol.ListField{FieldHead: head, Item: protocol.StringField{}},
		protocol.JSONField{FieldHead: head},
	}
	ask := &openAsk{Ask: protocol.Ask{Question: protocol.McpElicitation{}}}
	d := &dialog{declinable: true}
	for _, f := range fields {
		filling := newFilling(f, nil)
		filling.page.text = func() string { return fieldText(describe(ask), f, true) }
		filling.page.problem = long
		d.pages = append(d.pages, filling.page)
	}
	d.Init()
	for at := range d.pages {
		d.turn(at)
		for _, size := range [][2]int{{1, 1}, {2, 2}, {20, 5}, {7, 40}, {300, 3}, {80, 24}} {
			d.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for _, key := range []rune{tea.KeyPgDown, tea.KeyDown, 'x', tea.KeyPgUp, tea.KeyUp} {
				d.Update(tea.KeyPressMsg{Code: key})
				lines := strings.Split(d.View().Content, "\n")
				if len(lines) > size[1] {
					t.Errorf("page %d has %d rows of %d", at, len(lines), size[1])
				}
			}
		}
	}
}

func TestTheKeysThatMatterFitIntoANarrowTerminal(t *testing.T) {
	name := newFilling(protocol.StringField{FieldHead: protocol.FieldHead{Name: "name"}}, nil)
	name.page.mark = name.mark
	d := &dialog{pages: []*page{name.page, name.page}, at: 1, declinable: true}
	for width, want := range map[int]string{
		100: "Enter continues · Esc cancels · Ctrl-X declines · Ctrl-S secret · Shift-Tab back",
		80:  "Enter continues · Esc cancels · Ctrl-X declines · Ctrl-S secret · Shift-Tab back",
		79:  "Enter continues · Esc cancels · Ctrl-X declines · Ctrl-S secret …",
		40:  "Enter continues · Esc cancels …",
		10:  "Enter con…",
	} {
		if got := d.keys(0, width); got != want {
			t.Errorf("in %d columns the keys are %q, want %q", width, got, want)
		}
	}
}

func TestAnOptionIsSaidOnce(t *testing.T) {
	for _, tt := range []struct {
		option protocol.Option
		want   string
	}{
		{protocol.Option{Value: "pizza", Title: "Pizza"}, "Pizza"},
		{protocol.Option{Value: "p1", Title: "Pizza"}, "Pizza (p1)"},
		{protocol.Option{Value: "pizza"}, "pizza"},
		{protocol.Option{}, `""`},
	} {
		if got := optionName(tt.option); got != tt.want {
			t.Errorf("the option %+v is %q, want %q", tt.option, got, tt.want)
		}
	}
}

func TestAPatternIsLeftToItsDescription(t *testing.T) {
	field := protocol.StringField{Pattern: "^A-\\d+$"}
	if got := kindOf(field); got != `text, matching ^A-\d+$` {
		t.Errorf("without a description it is %q", got)
	}
	field.Description = "A, a dash and a number."
	if got := kindOf(field); got != "text" {
		t.Errorf("with a description it is %q", got)
	}
}

func TestEscInAListTakesTheFilterAway(t *testing.T) {
	at := 0
	d := &dialog{pages: []*page{{text: func() string { return "" }, title: "Which?", control: listControl(&at, []string{"one", "two"})}}}
	d.Init()
	d.Update(tea.WindowSizeMsg{Width: 40, Height: 10})
	for _, r := range "/tw" {
		d.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	if view := d.View().Content; strings.Contains(view, "one") {
		t.Fatalf("nothing is filtered:\n%s", view)
	}
	d.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
	if view := d.View().Content; d.over || !strings.Contains(view, "one") {
		t.Errorf("the filter is still there:\n%s", view)
	}
	d.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
	if !d.over || d.err != errDismissed {
		t.Error("the second Esc did not dismiss the question")
	}
}

func TestTheDisplay(t *testing.T) {
	status := func(text string) func(int) string { return func(int) string { return text } }
	tests := []struct {
		name string
		do   func(d *display)
		want string
	}{
		{"a status stays below what is written", func(d *display) {
			d.show(status("1"))
			fmt.Fprint(d, "a\n")
			d.show(status("2"))
			d.show(nil)
		}, "1\r\x1b[2Ka\n1\r\x1b[2K2\r\x1b[2K"},
		{"what is streamed is not torn", func(d *display) {
			fmt.Fprint(d, "a")
			d.show(status("1"))
			fmt.Fprint(d, "b\n")
		}, "ab\n1"},
		{"it is no longer than a row", func(d *display) { d.show(status("0123456789")) }, "01234…"},
		{"a dialog has the terminal", func(d *display) {
			fmt.Fprint(d, "a")
			d.show(status("1"))
			release := d.occupy()
			fmt.Fprint(d, "b\n")
			d.show(status("2"))
			fmt.Fprint(d.out, "DIALOG")
			release()
		}, "a\nDIALOGb\n2"},
		{"results are of the same terminal", func(d *display) {
			out := &results{d, d.out}
			d.show(status("1"))
			fmt.Fprint(out, "a\n")
			release := d.occupy()
			fmt.Fprint(d, "note\n")
			fmt.Fprint(out, "b\n")
			fmt.Fprint(out, "c\n")
			fmt.Fprint(d.out, "DIALOG")
			release()
		}, "1\r\x1b[2Ka\n1\r\x1b[2KDIALOGb\n1\r\x1b[2Kc\n1\r\x1b[2Knote\n1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			tt.do(&display{out: &out, width: func() int { return 7 }})
			if got := out.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("what is held back has an end", func(t *testing.T) {
		var out strings.Builder
		d := &display{out: &out, width: func() int { return 80 }}
		release := d.occupy()
		for i := range mostHeld / 8 {
			fmt.Fprintf(d, "%09d\n", i)
		}
		release()
		last := fmt.Sprintf("%09d\n", mostHeld/8-1)
		if got := out.String(); len(got) > mostHeld || !strings.HasSuffix(got, last) || len(got)%len(last) != 0 {
			t.Errorf("%d bytes were held back, the last ones %q", len(got), got[max(0, len(got)-20):])
		}
	})
}

func TestTheLineOfProgress(t *testing.T) {
	half := &protocol.Progress{Progress: 5, Total: 10, Message: "at\nit\x1b[2J"}
	tests := []struct {
		name  string
		width int
		call  *protocol.Progress
		task  *protocol.McpTask
		want  string
	}{
		{"a total that is known", 40, half, nil, "█████░░░░░  50% at it<U+001B>[2J"},
		{"a narrow terminal", 20, half, nil, "██░░░  50% at it<U+001B>[2J"},
		{"more than there is", 20, &protocol.Progress{Progress: 50, Total: 10}, nil, "█████ 100%"},
		{"less than nothing", 20, &protocol.Progress{Progress: -1, Total: 10}, nil, "░░░░░   0%"},
		{"no total", 20, &protocol.Progress{Progress: 3}, nil, "… 3"},
		{"a number of bytes", 20, &protocol.Progress{Progress: 1 << 20}, nil, "… 1048576"},
		{"an MCP task", 80, half, &protocol.McpTask{TaskID: "t", Status: "working", StatusMessage: "packing"}, "██████████░░░░░░░░░░  50% MCP task t: working: packing at it<U+001B>[2J"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := (&progress{call: tt.call, task: tt.task}).line(tt.width); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWarningsAboutASite(t *testing.T) {
	tests := []struct {
		url  string
		want []string // what each warning has in it
	}{
		{"https://example.com/a?b", nil},
		{"http://example.com/", []string{"not encrypted"}},
		{"https://xn--pple-43d.com:8443/", []string{"Punycode", "port 8443"}},
		{"https://аpple.com/", []string{"beyond a to z"}},
		{"https://example.com@evil.test/", []string{"before the @"}},
		{"https://[::1]/", []string{"a number, the address ::1,", "on this computer"}},
		{"https://203.0.113.9/", []string{"a number, the address 203.0.113.9,"}},
		{"https://3405803785/", []string{"a number, the address 203.0.113.9,"}},
		{"http://2130706433/", []string{"the address 127.0.0.1,", "on this computer", "not encrypted"}},
		{"https://0x7f000001/", []string{"the address 127.0.0.1,", "on this computer"}},
		{"https://0X7F.1/", []string{"the address 127.0.0.1,", "on this computer"}},
		{"https://0177.0.0.1/", []string{"the address 127.0.0.1,", "on this computer"}},
		{"https://127.1/", []string{"the address 127.0.0.1,", "on this computer"}},
		{"https://127.0.0.1./", []string{"the address 127.0.0.1,", "on this computer"}},
		{"https://１２７.０.０。１/", []string{"beyond a to z", "the address 127.0.0.1,", "on this computer"}},
		{"https://0300.0250.257/", []string{"the address 192.168.1.1,", "in your own network"}},
		{"https://0/", []string{"the address 0.0.0.0,", "on this computer"}},
		{"https://0x/", []string{"the address 0.0.0.0,", "on this computer"}},
		{"https://[::ffff:192.168.0.1]/", []string{"the address 192.168.0.1,", "in your own network"}},
		{"https://169.254.169.254/", []string{"the address 169.254.169.254,", "in your own network"}},
		{"https://256.256.256.256/", []string{"a number that is not an address"}},
		{"https://99999999999999999999/", []string{"a number that is not an address"}},
		{"https://1.2.3.4.5/", []string{"a number that is not an address"}},
		{"https://1password.com/", nil},
		{"https://127.0.0.1.example.com/", nil},
		{"https://0xab.example/", nil},
	}
	for _, tt := range tests {
		t.Run(tt.url, func(t *testing.T) {
			u, err := url.Parse(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			got := addressWarnings(u)
			if len(got) != len(tt.want) || slices.ContainsFunc(tt.want, func(w string) bool { return !strings.Contains(strings.Join(got, "\n"), w) }) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if text := addressText(tt.url, plain); !strings.HasSuffix(text, "\n  "+tt.url) {
				t.Errorf("the whole URL is not there: %s", text)
			}
		})
	}
}
