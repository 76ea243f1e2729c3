package handler

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/web/view"
)

// search finds agents, environments and attempts by part of their names. It is a
// page only: the API filters attempts with text.
func (s *Server) search(c *gin.Context) error {
	x, err := s.bind(c, resource{takes: []string{"text"}}, "/search", formHTML)
	if err != nil {
		return err
	}
	data := view.SearchData{Text: x.filter.Text}
	if data.Text != "" {
		part := strings.ToLower(data.Text)
		for _, label := range x.dataset.Labels() {
			if strings.Contains(strings.ToLower(label), part) {
				data.Agents = append(data.Agents, label)
			}
		}
		for _, e := range rebench.Environments() {
			if strings.Contains(strings.ToLower(e.Title+" "+string(e.ID)+" "+e.METRFamily), part) {
				data.Environments = append(data.Environments, e)
			}
		}
		list, err := s.engine.Attempts(c.Request.Context(), x.query, analysis.AttemptFilter{Text: data.Text}, "")
		if err != nil {
			return err
		}
		data.Attempts, data.Total = list.Attempts, list.Total
	}
	page := view.Page{Title: "Search", Path: "/search", Query: x.canonical, Base: base(c), Version: s.version, Revision: x.revision, Assets: s.instance}
	var buf bytes.Buffer
	if err := view.Search(page, data).Render(c.Request.Context(), &buf); err != nil {
		return err
	}
	c.Header("Cache-Control", "no-cache")
	c.Data(http.StatusOK, "text/html; charset=utf-8", buf.Bytes())
	return nil
}
