// Package browsertest opens every page in Chromium and looks at what a reader would
// meet: errors in the console, requests that leave the host, violations of the
// content security policy, faults that axe-core finds, pages wider than the screen.
//
// Set REBENCH_SCREENSHOTS to a directory to keep a picture of every page.
package browsertest
