// Package data embeds the published RE-Bench data. data/published is a byte for
// byte copy with its own README on sources; SHA256SUMS guards it.
package data

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"strings"
)

// Published holds the files of data/published under that name.
//
//go:embed published
var Published embed.FS

//go:embed SHA256SUMS
var sums string

// Flags lists the published rows that are suspected reward hacks, with the reason. They
// are flagged by hand only where no rule of validity/rules.yaml reaches them.
//
//go:embed flags.csv
var Flags []byte

// Validity holds the catalogue of defences and the rules of quarantine under validity/.
//
//go:embed validity
var Validity embed.FS

// Checksums returns the expected SHA-256 of every published file by its name.
func Checksums() map[string]string {
	out := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(sums))
	for lines.Scan() {
		if sum, name, ok := strings.Cut(lines.Text(), "  "); ok {
			out[name] = sum
		}
	}
	return out
}

// File returns a published file after checking its checksum.
func File(name string) ([]byte, error) {
	b, err := Published.ReadFile("published/" + name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	if got, want := hex.EncodeToString(sum[:]), Checksums()[name]; got != want {
		return nil, fmt.Errorf("published data %s: SHA-256 is %s, expected %s", name, got, want)
	}
	return b, nil
}

// Table reads a published CSV file as one map for each row, keyed by the header.
func Table(name string) ([]map[string]string, error) {
	b, err := File(name)
	if err != nil {
		return nil, err
	}
	rows, err := Records(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}

// Records reads CSV with a header as one map for each row.
func Records(b []byte) ([]map[string]string, error) {
	all, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		return nil, err
	}
	var out []map[string]string
	for _, fields := range all[min(1, len(all)):] {
		row := make(map[string]string, len(fields))
		for i, name := range all[0] {
			row[name] = fields[i]
		}
		out = append(out, row)
	}
	return out, nil
}
