package handler

import (
	"strings"

	"rebench/data"
	"rebench/web/view"
)

// publishedFiles describes the embedded files by the table of their README, whose
// columns are file, what and source.
func publishedFiles() ([]view.PublishedFile, error) {
	readme, err := data.File("README.md")
	if err != nil {
		return nil, err
	}
	sums := data.Checksums()
	var out []view.PublishedFile
	for line := range strings.Lines(string(readme)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if sum, ok := sums[cells[0]]; ok {
			out = append(out, view.PublishedFile{Name: cells[0], What: cells[1], Source: cells[2], SHA256: sum})
		}
	}
	return out, nil
}
