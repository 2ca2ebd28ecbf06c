package apps

import (
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
)

var (
	//go:embed outer.js
	outerScript string
	//go:embed outer.css
	outerStyle string

	outerPage = []byte(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>App</title>
<style>` + outerStyle + `</style>
</head>
<body><script>` + outerScript + `</script></body>
</html>
`)
	outerScriptHash = hashOf(outerScript)
	outerStyleHash  = hashOf(outerStyle)
)

// hashOf returns the source of a Content-Security-Policy that stands for a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
