package view

import "strings"

// formName is what a suffix is called.
func formName(suffix string) string { return strings.ToUpper(suffix) }
