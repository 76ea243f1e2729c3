package handler

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/zstd"

	"rebench/internal/upload"
)

// answer is the body of a successful upload on its way to the client. It is made on
// disk: an upload can hold a million attempts.
type answer struct {
	dir   string
	lists map[upload.List]*elementList
}

type elementList struct {
	file *os.File
	out  *bufio.Writer
	n    int
}

func newAnswer(dir string) (*answer, error) {
	a := &answer{dir: dir, lists: map[upload.List]*elementList{}}
	for _, l := range []upload.List{upload.Created, upload.Revised, upload.Unchanged} {
		f, err := os.Create(filepath.Join(dir, "list-"+string(l)))
		if err != nil {
			a.close()
			return nil, err
		}
		a.lists[l] = &elementList{file: f, out: bufio.NewWriterSize(f, 16<<10)}
	}
	return a, nil
}

func (a *answer) close() {
	for _, l := range a.lists {
		l.file.Close() // read or thrown away
	}
}

// keep adds an element to its list; it is upload.Options.Keep.
func (a *answer) keep(list upload.List, e upload.Element) error {
	l := a.lists[list]
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if l.n++; l.n > 1 {
		b = append([]byte{','}, b...)
	}
	_, err = l.out.Write(b)
	return err
}

// summary is what an answer says besides its lists.
type summary struct {
	UploadID     string `json:"upload_id"`
	DryRun       bool   `json:"dry_run"`
	DataRevision *int64 `json:"data_revision"` // nil for a dry run, which makes none
	Counts       any    `json:"counts"`
	Held         bool   `json:"held"`
	Errors       any    `json:"errors"`
	Files        any    `json:"files"`
}

// write composes the body of report in a file of its own and returns it, to be read
// from the beginning.
func (a *answer) write(id string, dryRun bool, report *upload.Report) (*os.File, error) {
	revision := &report.DataRevision
	if dryRun {
		revision = nil
	}
	head, err := json.Marshal(summary{id, dryRun, revision, report.Counts, report.Held, report.Errors, report.Files})
	if err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(a.dir, "answer"))
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(f, 64<<10)
	out.Write(bytes.TrimSuffix(head, []byte("}"))) // errors stick to out
	for _, name := range []upload.List{upload.Created, upload.Revised, upload.Unchanged} {
		l := a.lists[name]
		if err = l.out.Flush(); err == nil {
			_, err = l.file.Seek(0, io.SeekStart)
		}
		if err == nil {
			fmt.Fprintf(out, `,"%s":[`, name)
			_, err = io.Copy(out, l.file)
			out.WriteByte(']')
		}
		if err != nil {
			f.Close()
			return nil, err
		}
	}
	out.WriteByte('}')
	if err = out.Flush(); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// answerTimeout is how long a client may take to fetch an answer.
const answerTimeout = 10 * time.Minute

func sendJSON(c *gin.Context, status int, body io.Reader) error {
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(answerTimeout)) // see newPatience
	c.Header("Content-Type", "application/json; charset=utf-8")
	c.Header("Cache-Control", "no-store")
	c.Status(status)
	_, err := io.Copy(c.Writer, body)
	return err
}

// pack compresses an answer to be stored.
func pack(body io.Reader) ([]byte, error) {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(w, body)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// unpack reads a stored answer.
func unpack(b []byte) (io.ReadCloser, error) {
	r, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
	if err != nil {
		return nil, err
	}
	return r.IOReadCloser(), nil
}
