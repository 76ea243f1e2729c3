package handler

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"rebench/internal/upload"
)

// Limits of one upload, stated on the page.
const (
	MaxUploadBytes = 2 << 30
	MaxUploadFiles = 200
	maxField       = 1 << 20 // bytes of a form field
)

// spooled is an upload on disk.
type spooled struct {
	files  []upload.File
	fields map[string]string
}

// digest identifies the content of the upload: its files and fields.
func (u spooled) digest() string {
	h := sha256.New()
	for _, f := range u.files {
		fmt.Fprintf(h, "%q %s\n", f.Name, f.SHA256)
	}
	fmt.Fprintf(h, "%q", u.fields)
	return hex.EncodeToString(h.Sum(nil))
}

// spool streams a multipart request into dir: every part named file to a file of
// its own with a name of ours, other parts into fields. accept is asked before the
// first byte of a file is taken, with the fields that came before it.
func spool(c *gin.Context, dir string, accept func(fields map[string]string) error) (spooled, error) {
	out := spooled{fields: map[string]string{}}
	if c.Request.ContentLength > MaxUploadBytes {
		return out, tooLarge()
	}
	patient := newPatience(c)
	defer patient.end()
	c.Request.Body = http.MaxBytesReader(c.Writer, patient, MaxUploadBytes)
	parts, err := c.Request.MultipartReader()
	if err != nil {
		return out, &httpError{status: http.StatusUnsupportedMediaType, detail: "Send multipart/form-data with one or more parts named file."}
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, broken(err)
		}
		if part.FormName() != "file" {
			b, err := io.ReadAll(io.LimitReader(part, maxField+1))
			if err != nil {
				return out, broken(err)
			}
			if len(b) > maxField {
				return out, &httpError{status: http.StatusRequestEntityTooLarge, detail: fmt.Sprintf("The part %s is longer than %d bytes.", shorten(part.FormName()), maxField)}
			}
			out.fields[part.FormName()] = string(b)
			continue
		}
		if err := accept(out.fields); err != nil {
			return out, err
		}
		if part.FileName() == "" { // an empty file input
			continue
		}
		if len(out.files) == MaxUploadFiles {
			return out, &httpError{status: http.StatusRequestEntityTooLarge, detail: fmt.Sprintf("More than %d files in one upload; send them in several, or as a zip archive.", MaxUploadFiles)}
		}
		f, err := spoolFile(part, dir, len(out.files))
		if err != nil {
			return out, err
		}
		out.files = append(out.files, f)
	}
}

func spoolFile(part *multipart.Part, dir string, n int) (upload.File, error) {
	path := filepath.Join(dir, fmt.Sprintf("file-%03d", n))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return upload.File{}, err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, h), part)
	if err != nil {
		return upload.File{}, broken(err)
	}
	return upload.File{Name: fileName(part.FileName()), Path: path, Size: size, SHA256: hex.EncodeToString(h.Sum(nil))}, f.Close()
}

// patience reads an upload for as long as it keeps coming: the server's time-outs are
// for small requests.
type patience struct {
	io.ReadCloser
	control *http.ResponseController
	set     time.Time
}

// idleUpload is how long an upload may pause.
const idleUpload = time.Minute

func newPatience(c *gin.Context) *patience {
	p := &patience{ReadCloser: c.Request.Body, control: http.NewResponseController(c.Writer)}
	// A recorder in a test has no deadlines; a connection always has.
	_ = p.control.SetWriteDeadline(time.Time{})
	return p
}

// Read implements io.Reader.
func (p *patience) Read(b []byte) (int, error) {
	if now := time.Now(); now.Sub(p.set) > idleUpload/10 {
		p.set = now
		_ = p.control.SetReadDeadline(now.Add(idleUpload))
	}
	return p.ReadCloser.Read(b)
}

// end leaves the connection open for as long as the answer takes to find: an end of
// the read deadline would cancel the request.
func (p *patience) end() { _ = p.control.SetReadDeadline(time.Time{}) }

// fileName is an uploaded name as shown: its last element, in valid text.
func fileName(s string) string {
	s = s[strings.LastIndexAny(s, `/\`)+1:]
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if s == "" {
		return "unnamed"
	}
	return shorten(s)
}

func tooLarge() error {
	return &httpError{status: http.StatusRequestEntityTooLarge, detail: fmt.Sprintf("The upload is larger than %d bytes.", int64(MaxUploadBytes))}
}

func broken(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge()
	}
	if _, ok := errors.AsType[*os.PathError](err); ok {
		return err
	}
	return &httpError{status: http.StatusBadRequest, detail: "The upload broke off or is not well-formed multipart/form-data; nothing of it was kept."}
}
