package terminal

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// The reasons why a dialog ends without a choice.
var (
	errOver     = errors.New("the question is over")
	errInputEnd = errors.New("the input has ended")
	errCtrlC    = errors.New("Ctrl-C was typed")
)

// overMsg ends a dialog from outside.
type overMsg struct{ why error }

// dialog is a sequence of pages, each with a text and one control. It has a screen of its own, which fits into the
// terminal and disappears when the dialog ends.
type dialog struct {
	pages []*page
	// declinable lets Ctrl-X decline on every page.
	declinable bool

	at            int
	width, height int
	top           int      // the first row of the text that is shown
	rows          []string // the text of the page, in rows
	filtered      bool     // a filter of the page's list was set, and Esc removes it
	over          bool
	err           error // why it ended; nil if the person left the last page with an answer
}

// page is one step of a dialog.
type page struct {
	// text returns the text of the page, safe to show. It is called each time the page is shown.
	text  func() string
	title string
	// problem is the problem of the current value; empty for none.
	problem string
	// check returns a problem that keeps Enter from leaving the page, or an empty text; nil checks nothing.
	check   func() string
	control control
	// mark marks the answer as secret, or removes the mark; nil if it cannot be marked.
	mark func()
	// whole reports whether this is the last page, which shows the values of all others.
	whole bool
	// next returns the index of the next page, or a negative number to end the dialog; nil means the page after this
	// one.
	next func() int
}

// control is a huh field, with functions that all fields have but their interface lacks.
type control struct {
	huh.Field
	title, describe func(string)
	// rows is how many rows the input itself needs.
	rows func(width int) int
	// hide hides the typed text, or shows it again; nil if the control cannot.
	hide func(hidden bool)
}

var _ tea.Model = (*dialog)(nil)

// Init implements [tea.Model].
func (d *dialog) Init() tea.Cmd { return d.turn(d.at) }

// turn turns to a page.
func (d *dialog) turn(to int) tea.Cmd {
	d.pages[d.at].control.Blur()
	d.at, d.top, d.rows, d.filtered = to, 0, nil, false
	c := d.pages[to].control
	cmd := tea.Batch(c.Init(), c.Focus())
	d.lay()
	return cmd
}

func (d *dialog) end(err error) (tea.Model, tea.Cmd) {
	d.over, d.err = true, err
	return d, tea.Quit
}

// Update implements [tea.Model]. It recovers from a panic and ends the dialog in good order, because bubbletea would
// close the terminal's reader during a read.
func (d *dialog) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			model, cmd = d.end(fmt.Errorf("%w: %v", tea.ErrProgramPanic, r))
		}
	}()
	return d.update(msg)
}

func (d *dialog) update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if d.over {
		return d, nil
	}
	p := d.pages[d.at]
	if msg == huh.NextField() {
		if p.check != nil {
			if problem := p.check(); problem != "" {
				p.problem = problem
				d.lay()
				return d, nil
			}
		}
		to := d.at + 1
		if p.next != nil {
			to = p.next()
		}
		if to < 0 || to >= len(d.pages) {
			return d.end(nil)
		}
		return d, d.turn(to)
	}
	switch msg := msg.(type) {
	case overMsg:
		return d.end(msg.why)
	case tea.WindowSizeMsg:
		d.width, d.height, d.rows = msg.Width, msg.Height, nil
		d.lay()
		return d, nil
	case tea.KeyPressMsg:
		switch msg.String() {
		case "ctrl+c":
			return d.end(errCtrlC)
		case "ctrl+x":
			if d.declinable {
				return d.end(errDeclined)
			}
		case "ctrl+s":
			if p.mark != nil {
				p.mark()
				d.lay()
			}
			return d, nil
		case "esc":
			switch {
			case filtering(p.control): // huh sets the filter with this key, and removes it with the next
				d.filtered = false
				return d, tea.Batch(d.pass(msg), d.pass(msg))
			case d.filtered:
				d.filtered = false
			default:
				return d.end(errDismissed)
			}
		case "enter":
			d.filtered = d.filtered || filtering(p.control)
		case "shift+tab":
			if d.at > 0 && !filtering(p.control) {
				return d, d.turn(d.at - 1)
			}
			return d, nil
		case "pgup":
			d.scroll(-1)
			return d, nil
		case "pgdown":
			d.scroll(1)
			return d, nil
		}
	}
	return d, d.pass(msg)
}

// pass passes a message to the control.
func (d *dialog) pass(msg tea.Msg) tea.Cmd {
	_, cmd := d.pages[d.at].control.Update(msg)
	d.lay()
	return cmd
}

// filtering reports whether the person types the filter of a list.
func filtering(c control) bool {
	f, ok := c.Field.(interface{ GetFiltering() bool })
	return ok && f.GetFiltering()
}

// lay fits the page into the terminal.
func (d *dialog) lay() {
	if d.width == 0 {
		return // the terminal's size is not known yet
	}
	p := d.pages[d.at]
	if d.rows == nil {
		text := strings.ReplaceAll(strings.TrimRight(p.text(), "\n"), "\t", "    ")
		d.rows = strings.Split(ansi.Wrap(text, d.width, ""), "\n")
	}
	inner := max(d.width-2, 1) // huh draws a bar on the left
	title := p.title
	total := len(d.pages)
	if d.pages[total-1].whole {
		total--
	}
	if total > 1 && !p.whole {
		title = fmt.Sprintf("%d/%d %s", d.at+1, total, title)
	}
	p.control.title(ansi.Truncate(title, inner, "…"))
	problem := p.problem
	if err := p.control.Error(); err != nil {
		problem = err.Error()
	}
	room, height := d.room(), 1
	if problem != "" {
		problem = ansi.Truncate("! "+oneLine(problem, 1000), inner*max(1, min(3, room-2)), "…")
		height += lipgloss.Height(ansi.Wrap(problem, inner, ""))
	}
	p.control.describe(problem)
	p.control.WithWidth(d.width)
	if rows := p.control.rows; rows != nil {
		least := 1
		if len(d.rows) > 3 { // keep enough rows that the text can be read
			least = min(3, max(1, room/3))
		}
		p.control.WithHeight(min(height+rows(inner), max(room-least, 2)))
	}
	d.scroll(0)
}

// room returns how many rows there are for the text and the control.
func (d *dialog) room() int {
	if d.height >= 4 {
		return d.height - 1 // the last row shows the keys
	}
	return d.height
}

// seen returns how many rows of the text are shown.
func (d *dialog) seen() int {
	return max(0, min(len(d.rows), d.room()-lipgloss.Height(d.pages[d.at].control.View())))
}

// scroll moves the text by so many screens.
func (d *dialog) scroll(screens int) {
	seen := d.seen()
	d.top = max(0, min(d.top+screens*max(1, seen-1), len(d.rows)-seen))
}

// View implements [tea.Model].
func (d *dialog) View() tea.View {
	if d.width == 0 {
		return screenful("")
	}
	seen := d.seen()
	parts := append([]string{}, d.rows[d.top:d.top+seen]...)
	parts = append(parts, d.pages[d.at].control.View())
	if d.room() < d.height {
		parts = append(parts, lipgloss.NewStyle().Faint(true).Render(d.keys(seen, d.width-1)))
	}
	return screenful(lipgloss.NewStyle().MaxWidth(d.width).MaxHeight(d.height).Render(strings.Join(parts, "\n")))
}

// screenful returns a view on the alternate screen. The terminal restores the main screen afterwards, even if its size
// has changed.
func screenful(content string) tea.View {
	v := tea.NewView(content)
	v.AltScreen = true
	return v
}

// keys lists the keys, the most useful first, as many as fit into a width.
func (d *dialog) keys(seen, width int) string {
	var keys []string
	if more := len(d.rows) - d.top - seen; more > 0 {
		keys = append(keys, fmt.Sprintf("PgDn %d more", more))
	} else if d.top > 0 {
		keys = append(keys, "PgUp back")
	}
	keys = append(keys, "Enter continues", "Esc cancels")
	if d.declinable {
		keys = append(keys, "Ctrl-X declines")
	}
	if d.pages[d.at].mark != nil {
		keys = append(keys, "Ctrl-S secret")
	}
	switch d.pages[d.at].control.Field.(type) {
	case *huh.MultiSelect[int]:
		keys = append(keys, "x ticks", "/ filters")
	case *huh.Select[int]:
		keys = append(keys, "↑↓ choose", "/ filters")
	case *huh.Text:
		keys = append(keys, "Alt-Enter new line")
	}
	if d.at > 0 {
		keys = append(keys, "Shift-Tab back")
	}
	line := strings.Join(keys, " · ")
	for len(keys) > 1 && ansi.StringWidth(line) > width {
		keys = keys[:len(keys)-1]
		line = strings.Join(keys, " · ") + " …"
	}
	return ansi.Truncate(line, width, "…")
}
