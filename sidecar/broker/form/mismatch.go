package form

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"assent/sidecar/wire/quirk"
)

// The limits of a comparison. A hostile schema can refer to itself, and can double its work with each reference.
const (
	// maxChecks is the limit of keywords and items that are looked at.
	maxChecks = 1_000_000
	// checkedBytes is how many bytes count as one check.
	checkedBytes = 100
	// maxNested is the limit of schemas in schemas, references included.
	maxNested = 200
	// maxMismatches is how many differences are named.
	maxMismatches = 3
	// maxBigDigits bounds the numbers that are divided exactly.
	maxBigDigits = 100
)

// Mismatches says in sentences where a value is not as its JSON Schema wants it (draft 2020-12, "JSON Schema Validation"),
// for the first few places. It returns none if the value fits, or where it cannot tell: a schema with keywords that it
// does not know, with a pattern that Go's engine cannot run, with references to other documents, or whose comparison takes
// too long, hides no result.
func Mismatches(schema, value json.RawMessage) []string {
	return mismatches(schema, value, maxChecks)
}

// mismatches looks at so many keywords and items at most.
func mismatches(schema, value json.RawMessage, most int) []string {
	if len(schema) > maxSchemaBytes {
		return nil
	}
	root, ok := decodeExact(schema)
	if !ok {
		return nil
	}
	decoded, ok := decodeExact(value)
	if !ok {
		return nil
	}
	c := &comparison{root: root, left: most}
	c.compare(root, decoded, place{})
	return c.found
}

// verdict is how a value compares with a schema. A greater one prevails.
type verdict int

const (
	fits verdict = iota
	unsure
	differs
)

// place is where a value is in the whole value. The zero place is the whole.
type place struct {
	text   string
	nested int
	// silent: a difference here may be none of the whole, such as one from the first of two alternatives.
	silent bool
}

// String names the place for a sentence.
func (p place) String() string {
	if p.text == "" {
		return "The result"
	}
	return p.text
}

func (p place) member(name string) place {
	if isWord(name) {
		p.text = strings.TrimPrefix(p.text+"."+name, ".")
	} else {
		p.text += "[" + quote(name) + "]"
	}
	return p
}

func (p place) item(index int) place {
	p.text += "[" + strconv.Itoa(index) + "]"
	return p
}

// isWord reports whether a name is short and plain, so that it needs no quotes.
func isWord(name string) bool {
	const longest = 60
	return name != "" && len(name) <= longest && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// comparison compares one value with one schema.
type comparison struct {
	root  any
	left  int // checks that may still be made
	found []string
}

// spend takes checks from those that are left, and reports whether there were enough.
func (c *comparison) spend(checks int) bool {
	c.left -= checks
	return c.left >= 0
}

// differ notes a difference.
func (c *comparison) differ(at place, format string, args ...any) verdict {
	if !at.silent && len(c.found) < maxMismatches {
		sentence := fmt.Sprintf("%v ", at) + fmt.Sprintf(format, args...)
		if !slices.Contains(c.found, sentence) {
			c.found = append(c.found, sentence)
		}
	}
	return differs
}

// compare compares a value with a schema.
func (c *comparison) compare(schema, value any, at place) verdict {
	if at.nested++; at.nested > maxNested || !c.spend(1) || len(c.found) == maxMismatches {
		return unsure
	}
	keywords, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			return c.differ(at, "must not be there.")
		}
		return fits // true, and what is no schema
	}
	// All of them are looked at, so that one that is not known hides no difference.
	return max(
		c.references(keywords, value, at),
		c.kind(keywords, value, at),
		c.combined(keywords, value, at),
		c.contents(keywords, value, at),
	)
}

// unknown are keywords that are not compared. A schema with one of them may want more than is seen here.
var unknown = []string{
	"$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties", "contains", "dependentSchemas",
	"dependentRequired", "dependencies", "propertyNames", "additionalItems",
}

// references follows $ref within the schema.
func (c *comparison) references(keywords map[string]any, value any, at place) verdict {
	result := fits
	for _, name := range unknown {
		if _, has := keywords[name]; has {
			result = unsure
		}
	}
	reference, has := keywords["$ref"]
	if !has {
		return result
	}
	target, ok := c.target(reference)
	if !ok {
		return unsure
	}
	return max(result, c.compare(target, value, at))
}

// target returns what a reference refers to, if it is a JSON pointer into the same schema (RFC 6901).
func (c *comparison) target(reference any) (any, bool) {
	text, ok := reference.(string)
	pointer, local := strings.CutPrefix(text, "#")
	if !ok || !c.spend(len(text)/checkedBytes) || !local || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil {
		return nil, false
	}
	now := c.root
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch parent := now.(type) {
		case map[string]any:
			if now, ok = parent[unescape.Replace(token)]; !ok {
				return nil, false
			}
		case []any:
			index, err := strconv.Atoi(token)
			if err != nil || index < 0 || index >= len(parent) {
				return nil, false
			}
			now = parent[index]
		default:
			return nil, false
		}
	}
	return now, true
}

// kind compares the type, and the values that are allowed.
func (c *comparison) kind(keywords map[string]any, value any, at place) verdict {
	if wanted, has := keywords["type"]; has {
		var names []string
		for _, name := range list(wanted) {
			if text, ok := name.(string); ok {
				names = append(names, quirk.Type(text))
			}
		}
		if !c.spend(len(names)) {
			return unsure
		}
		fits := func(name string) bool { return name == "enum" || name == "any" || isOfType(value, name) }
		if !slices.ContainsFunc(names, fits) {
			var words []string
			for _, name := range names {
				words = append(words, typeWords(name))
			}
			return c.differ(at, "is %s, and must be %s.", typeWords(typeOf(value)), strings.Join(words, " or "))
		}
	}
	allowed, has := keywords["enum"].([]any)
	words := "is none of the allowed values."
	if only, one := keywords["const"]; one {
		allowed, has, words = []any{only}, true, "is not the one allowed value."
	}
	if !has {
		return fits
	}
	text, ok := c.canonical(value)
	for _, one := range allowed {
		other, read := c.canonical(one)
		if ok = ok && read; !ok {
			break
		}
		if other == text {
			return fits
		}
	}
	if !ok {
		return unsure
	}
	return c.differ(at, "%s", words)
}

// canonical is [canonical], within the limits.
func (c *comparison) canonical(value any) (string, bool) {
	if c.left < 0 {
		return "", false
	}
	text := canonical(value)
	return text, c.spend(1 + len(text)/checkedBytes)
}

// list returns a value that is one or a list as a list.
func list(value any) []any {
	if many, ok := value.([]any); ok {
		return many
	}
	return []any{value}
}

// typeOf returns JSON Schema's name of a value's type.
func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func isOfType(value any, name string) bool {
	if name != "integer" {
		return typeOf(value) == name
	}
	number, ok := value.(json.Number)
	n, read := parseNumber(number.String())
	return ok && read && n.whole()
}

// typeWords names a type for a person.
func typeWords(name string) string {
	words, ok := map[string]string{
		"null": "null", "boolean": "true or false", "string": "a text", "number": "a number", "integer": "a whole number",
		"array": "a list", "object": "an object",
	}[name]
	if !ok {
		return quote(name)
	}
	return words
}

// combined compares with the schemas in a schema.
func (c *comparison) combined(keywords map[string]any, value any, at place) verdict {
	result := fits
	if all, ok := keywords["allOf"].([]any); ok {
		for _, one := range all {
			result = max(result, c.compare(one, value, at))
		}
	}
	silent := at
	silent.silent = true
	count := func(schemas []any) (n [differs + 1]int) {
		for _, one := range schemas {
			n[c.compare(one, value, silent)]++
		}
		return n
	}
	if any, ok := keywords["anyOf"].([]any); ok {
		switch n := count(any); {
		case n[fits] > 0:
		case n[unsure] > 0:
			result = max(result, unsure)
		default:
			result = c.differ(at, "fits none of the alternatives.")
		}
	}
	if one, ok := keywords["oneOf"].([]any); ok {
		switch n := count(one); {
		case n[fits] > 1:
			result = c.differ(at, "fits more than one of the alternatives.")
		case n[fits]+n[unsure] == 0:
			result = c.differ(at, "fits none of the alternatives.")
		case n[unsure] > 0:
			result = max(result, unsure)
		}
	}
	if not, has := keywords["not"]; has {
		switch c.compare(not, value, silent) {
		case fits:
			result = c.differ(at, "is what must not be there.")
		case unsure:
			result = max(result, unsure)
		}
	}
	if condition, has := keywords["if"]; has {
		verdict := c.compare(condition, value, silent)
		branch, has := keywords["then"]
		if verdict == differs {
			branch, has = keywords["else"]
		}
		if verdict == unsure {
			result = max(result, unsure)
		} else if has {
			result = max(result, c.compare(branch, value, at))
		}
	}
	return result
}

// contents compares what a value has in it.
func (c *comparison) contents(keywords map[string]any, value any, at place) verdict {
	switch value := value.(type) {
	case string:
		return c.text(keywords, value, at)
	case json.Number:
		return c.number(keywords, value.String(), at)
	case []any:
		return c.items(keywords, value, at)
	case map[string]any:
		return c.properties(keywords, value, at)
	}
	return fits
}

// bound returns a keyword's number.
func bound(keywords map[string]any, name string) (number, bool) {
	text, ok := keywords[name].(json.Number)
	n, read := parseNumber(text.String())
	return n, ok && read
}

// clipped is a keyword's number for a sentence.
func clipped(limit any) string { return clip(fmt.Append(nil, limit)) }

// within compares a count with two keywords.
func (c *comparison) within(keywords map[string]any, least, most string, n int, what string, at place) verdict {
	have, _ := parseNumber(strconv.Itoa(n))
	if limit, ok := bound(keywords, least); ok && have.compare(limit) < 0 {
		return c.differ(at, "has %d %s, and must have at least %s.", n, what, clipped(keywords[least]))
	}
	if limit, ok := bound(keywords, most); ok && have.compare(limit) > 0 {
		return c.differ(at, "has %d %s, and must have at most %s.", n, what, clipped(keywords[most]))
	}
	return fits
}

func (c *comparison) text(keywords map[string]any, value string, at place) verdict {
	result := c.within(keywords, "minLength", "maxLength", utf8.RuneCountInString(value), "characters", at)
	pattern, ok := keywords["pattern"].(string)
	if !ok {
		return result
	}
	return max(result, c.pattern(pattern, value, func() verdict {
		return c.differ(at, "does not match the pattern %s.", clip([]byte(pattern)))
	}))
}

// pattern compares a text with a pattern. It calls otherwise if the text does not match.
func (c *comparison) pattern(pattern, text string, otherwise func() verdict) verdict {
	// A match takes time linear in both.
	const patternChecks, stepsOfCheck = 100, 1000
	if len(pattern) > mostKeptBytes || len(text) > maxTextRunes || !c.spend(patternChecks+len(pattern)) {
		return unsure
	}
	steps, _, err := measurePattern(pattern)
	if err != nil || !c.spend(steps*len(text)/stepsOfCheck) {
		return unsure
	}
	if !matches(pattern, text) {
		return otherwise()
	}
	return fits
}

func (c *comparison) number(keywords map[string]any, text string, at place) verdict {
	n, ok := parseNumber(text)
	if !ok {
		return unsure
	}
	for _, limit := range []struct {
		keyword, words string
		broken         func(order int) bool
	}{
		{"minimum", "is less than", func(order int) bool { return order < 0 }},
		{"maximum", "is greater than", func(order int) bool { return order > 0 }},
		{"exclusiveMinimum", "must be greater than", func(order int) bool { return order <= 0 }},
		{"exclusiveMaximum", "must be less than", func(order int) bool { return order >= 0 }},
	} {
		if b, ok := bound(keywords, limit.keyword); ok && limit.broken(n.compare(b)) {
			return c.differ(at, "%s %s.", limit.words, clipped(keywords[limit.keyword]))
		}
	}
	if step, ok := bound(keywords, "multipleOf"); ok {
		a, b := n.rational(), step.rational()
		if a == nil || b == nil || b.Sign() <= 0 {
			return unsure
		}
		if !new(big.Rat).Quo(a, b).IsInt() {
			return c.differ(at, "is not a multiple of %s.", clipped(keywords["multipleOf"]))
		}
	}
	return fits
}

// compare orders two numbers by their exact values.
func (n number) compare(m number) int {
	sign := func(n number) int {
		switch {
		case n.digits == "":
			return 0
		case n.negative:
			return -1
		}
		return 1
	}
	if order := cmp.Compare(sign(n), sign(m)); order != 0 || n.digits == "" {
		return order
	}
	// Without zeros at its start, the number with more digits before the point is the greater one.
	order := cmp.Or(
		cmp.Compare(n.exponent+float64(len(n.digits)), m.exponent+float64(len(m.digits))),
		cmp.Compare(n.digits, m.digits),
	)
	return order * sign(n)
}

// rational returns the exact value of a number, or nil if it has too many digits.
func (n number) rational() *big.Rat {
	if len(n.digits) > maxBigDigits || n.exponent > maxBigDigits || n.exponent < -maxBigDigits {
		return nil
	}
	text := cmp.Or(n.digits, "0") + "e" + strconv.Itoa(int(n.exponent))
	if n.negative {
		text = "-" + text
	}
	rational, _ := new(big.Rat).SetString(text)
	return rational
}

func (c *comparison) items(keywords map[string]any, values []any, at place) verdict {
	result := c.within(keywords, "minItems", "maxItems", len(values), "items", at)
	first, _ := keywords["prefixItems"].([]any)
	rest, has := keywords["items"]
	if tuple, ok := rest.([]any); ok { // until draft 2019-09
		first, has = tuple, false
	}
	for i, value := range values {
		switch {
		case i < len(first):
			result = max(result, c.compare(first[i], value, at.item(i)))
		case has:
			result = max(result, c.compare(rest, value, at.item(i)))
		}
		if c.left < 0 || len(c.found) == maxMismatches {
			return max(result, unsure)
		}
	}
	if keywords["uniqueItems"] == true {
		seen := map[string]bool{}
		for i, value := range values {
			text, ok := c.canonical(value)
			if !ok {
				return max(result, unsure)
			}
			if seen[text] {
				return c.differ(at.item(i), "is there twice.")
			}
			seen[text] = true
		}
	}
	return result
}

func (c *comparison) properties(keywords map[string]any, value map[string]any, at place) verdict {
	result := c.within(keywords, "minProperties", "maxProperties", len(value), "members", at)
	required, _ := keywords["required"].([]any)
	for _, one := range required {
		name, ok := one.(string)
		if _, has := value[name]; ok && !has {
			result = c.differ(at, "has no %s.", quote(name))
		}
	}
	if !c.spend(len(required) + len(value)) {
		return unsure
	}
	named, _ := keywords["properties"].(map[string]any)
	patterns, _ := keywords["patternProperties"].(map[string]any)
	other, has := keywords["additionalProperties"]
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if c.left < 0 || len(c.found) == maxMismatches {
			return max(result, unsure)
		}
		schema, known := named[name]
		if known {
			result = max(result, c.compare(schema, value[name], at.member(name)))
		}
		for pattern, schema := range patterns {
			matched := c.pattern(pattern, name, func() verdict { return differs })
			if known = known || matched != differs; matched == fits {
				result = max(result, c.compare(schema, value[name], at.member(name)))
			} else if matched == unsure {
				result = max(result, unsure)
			}
		}
		switch {
		case known || !has:
		case other == false:
			result = c.differ(at, "has %s, which is not declared.", quote(name))
		default:
			result = max(result, c.compare(other, value[name], at.member(name)))
		}
	}
	return result
}
