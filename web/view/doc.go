// Package view holds the pages: one templ component for each page, the layout they
// share, and the words and numbers they print.
//
// A page's state is its URL. Components get a Page (title, path, parameters) and
// the results of package analysis; they compute nothing but words. Everything works
// without JavaScript: settings are links and GET forms, charts fall back to an SVG
// and a table. There is neither inline script nor inline style, so that the pages
// run under Content-Security-Policy "default-src 'self'".
package view

//go:generate go tool templ generate
