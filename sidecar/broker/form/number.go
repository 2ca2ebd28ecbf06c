package form

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"assent/sidecar/base/lazyregexp"
)

// decimal is a number of JSON.
var decimal = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// number is a decimal number: digits×10^exponent, with no zeros at either end of the digits. Zero has
// no digits and the exponent 0.
type number struct {
	negative bool
	digits   string
	exponent float64
}

// parseNumber reads a number of JSON, exactly.
func parseNumber(text string) (number, bool) {
	if !decimal().MatchString(text) {
		return number{}, false
	}
	var n number
	text, n.negative = strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	n.exponent, _ = strconv.ParseFloat(exponent, 64) // "" is 0, and a value beyond a double is ±Inf
	n.exponent -= float64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	n.digits = strings.TrimRight(digits, "0")
	n.exponent += float64(len(digits) - len(n.digits))
	if n.digits == "" {
		n.exponent = 0
	}
	return n, true
}

// whole reports whether a number is an integer, in any notation.
func (n number) whole() bool { return n.exponent >= 0 }

// isExact reports whether the nearest double of a number has the same value.
func isExact(text string) bool {
	n, ok := parseNumber(text)
	f, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil {
		return false
	}
	back, ok := parseNumber(strconv.FormatFloat(f, 'e', -1, 64))
	return ok && n == back
}

// numberText returns a number of an answer as the server gets it. Front ends whose numbers are
// doubles send a text for numbers that doubles cannot hold; see [protocol.AskResponseParams].
func numberText(value json.RawMessage) (json.RawMessage, float64, bool) {
	text := string(value)
	var quoted string
	if strings.HasPrefix(text, `"`) && json.Unmarshal(value, &quoted) == nil {
		text = quoted
	}
	f, err := strconv.ParseFloat(text, 64)
	if !decimal().MatchString(text) || err != nil {
		return nil, 0, false
	}
	return json.RawMessage(text), f, true
}

// Number returns a finite number as a text for a person, in JavaScript's notation: 1000000 and not
// 1e+06.
func Number(f float64) string {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// count is a number of items in a schema. JSON Schema allows any notation of integers: 2.0 is 2.
type count int

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(data []byte) error {
	var f float64
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	if f != math.Trunc(f) {
		return &countError{string(data)}
	}
	*c = count(min(max(f, -1<<53), 1<<53))
	return nil
}

// countError is the error of a bound that is not a count.
type countError struct{ text string }

// Error implements error.
func (e *countError) Error() string { return clip([]byte(e.text)) + " is not a count" }
