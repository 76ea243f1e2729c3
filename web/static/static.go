// Package static holds the files that browsers load: styles, scripts, fonts.
// Licences lie beside what is not ours.
package static

import "embed"

// FS holds the files under the names that follow /static/.
//
//go:embed *.css *.js *.svg *.txt fonts
var FS embed.FS
