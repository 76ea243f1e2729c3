package ingest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"rebench/internal/attemptlog"
)

// zipMethodZstd is zip's number for Zstandard, Inspect's default since 0.3.206.
const zipMethodZstd = 93

// zstdMaxWindow bounds the memory of one Zstandard decoder.
const zstdMaxWindow = 32 << 20

// budget bounds what one archive expands to. Bytes are counted as they come out:
// the sizes that an archive declares are not believed.
type budget struct {
	name  string
	files []*zip.File
	in    int64
	out   int64
	total *int64 // of all archives of one upload
}

// archiveFault is a fault of an archive as an error, so that it passes through
// the readers above.
type archiveFault struct{ attemptlog.Fault }

func asArchiveFault(err error, target **archiveFault) bool { return errors.As(err, target) }

func (b *budget) fault(code, hint, format string, args ...any) *archiveFault {
	return &archiveFault{attemptlog.Fault{File: b.name, Code: code, Detail: fmt.Sprintf(format, args...), Hint: hint}}
}

// add counts n decompressed bytes.
func (b *budget) add(n int64) error {
	b.out += n
	*b.total += n
	switch {
	case *b.total > MaxDecompressed:
		return b.fault(CodeArchiveTooLarge, "upload the files in several archives", "the archive expands to more than %d bytes", int64(MaxDecompressed))
	case b.out > RatioFloor && b.out/MaxRatio > b.in:
		return b.fault(CodeArchiveRatio, "upload the files themselves", "the archive expands to more than %d times its size", MaxRatio)
	}
	return nil
}

// newBudget opens a zip archive and checks its directory.
func newBudget(name string, r io.ReaderAt, size int64, total *int64) (*budget, error) {
	b := &budget{name: name, in: size, total: total}
	if err := b.checkDirectory(r, size); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are never used as paths
		return nil, b.fault(CodeBadArchive, "the copy may have broken off", "the zip archive cannot be read: %v", err)
	}
	if len(z.File) > MaxZipEntries {
		return nil, b.fault(CodeArchiveEntries, "", "the archive has %d entries, expected at most %d", len(z.File), MaxZipEntries)
	}
	z.RegisterDecompressor(zipMethodZstd, zstd.ZipDecompressor(zstd.WithDecoderMaxWindow(zstdMaxWindow), zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1)))
	var packed uint64
	for _, f := range z.File {
		packed += f.CompressedSize64
	}
	if packed > uint64(size) { // entries that share their bytes multiply them
		return nil, b.fault(CodeArchiveRatio, "", "the archive's entries claim %d packed bytes in a file of %d, expected entries that do not overlap", packed, size)
	}
	b.files = z.File
	return b, nil
}

// checkDirectory bounds the archive's directory before it is read into memory.
func (b *budget) checkDirectory(r io.ReaderAt, size int64) error {
	const eocd, tailMax = 22, 22 + 65535
	tail := make([]byte, min(size, tailMax))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	i := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if i < 0 || len(tail)-i < eocd {
		return b.fault(CodeBadArchive, "the copy may have broken off", "the zip archive has no directory at its end")
	}
	end := size - int64(len(tail)-i)
	entries := uint64(binary.LittleEndian.Uint16(tail[i+10:]))
	offset := uint64(binary.LittleEndian.Uint32(tail[i+16:]))
	if offset == 0xffffffff || entries == 0xffff { // zip64: the real numbers stand in a record before
		if j := bytes.LastIndex(tail[:i], []byte("PK\x06\x06")); j >= 0 && i-j >= 56 {
			entries = binary.LittleEndian.Uint64(tail[j+32:])
			offset = binary.LittleEndian.Uint64(tail[j+48:])
		}
	}
	if entries > MaxZipEntries {
		return b.fault(CodeArchiveEntries, "", "the archive has %d entries, expected at most %d", entries, MaxZipEntries)
	}
	if offset > uint64(end) || uint64(end)-offset > MaxZipDirectory {
		return b.fault(CodeArchiveEntries, "", "the archive's directory is larger than %d bytes or lies outside the file", MaxZipDirectory)
	}
	return nil
}

// open reads one entry, counting against the budget.
func (b *budget) open(f *zip.File) (io.ReadCloser, error) {
	if f.Flags&1 != 0 {
		return nil, b.fault(CodeArchiveMethod, "pack it without a password", "entry %s is encrypted", quote(displayName(f.Name)))
	}
	rc, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, b.fault(CodeArchiveMethod, "", "entry %s is packed with method %d, expected 0 (stored), 8 (deflate) or 93 (zstd)", quote(displayName(f.Name)), f.Method)
	}
	if err != nil {
		return nil, b.fault(CodeBadArchive, "", "entry %s cannot be read: %v", quote(displayName(f.Name)), err)
	}
	return &countedEntry{rc, b, f.Name}, nil
}

type countedEntry struct {
	io.ReadCloser
	b    *budget
	name string
}

func (c *countedEntry) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if over := c.b.add(int64(n)); over != nil {
		return 0, over
	}
	if err != nil && err != io.EOF {
		err = c.b.fault(CodeBadArchive, "the copy may be damaged", "entry %s cannot be unpacked: %v", quote(displayName(c.name)), err)
	}
	return n, err
}

// lastWins drops entries that a later one of the same name replaces.
func lastWins(files []*zip.File) (kept []*zip.File, dropped int) {
	last := map[string]int{}
	for i, f := range files {
		last[f.Name] = i
	}
	for i, f := range files {
		if last[f.Name] != i {
			dropped++
			continue
		}
		if !strings.HasSuffix(f.Name, "/") {
			kept = append(kept, f)
		}
	}
	return kept, dropped
}

func (f *File) openZip() {
	total := new(int64)
	b, err := newBudget(f.Name, f.src, f.Size, total)
	if err != nil {
		f.readFailed(&source{name: f.Name, r: f.src}, err)
		return
	}
	f.budget = b
}

// ignoredEntry reports files that operating systems add to archives.
func ignoredEntry(name string) bool {
	base := name[strings.LastIndex(name, "/")+1:]
	return strings.HasPrefix(name, "__MACOSX/") || base == ".DS_Store" || base == "Thumbs.db" || strings.HasPrefix(base, "._")
}

// decodeArchive decodes each file of a zip archive.
func (f *File) decodeArchive(emit emit) {
	files, dropped := lastWins(f.budget.files)
	if dropped > 0 {
		f.addWarning(attemptlog.Fault{File: f.Name, Code: WarnDuplicateEntry, Detail: fmt.Sprintf("%d entries are replaced by later ones of the same name", dropped)})
	}
	decoded := 0
	for _, zf := range files {
		if ignoredEntry(zf.Name) {
			f.addWarning(attemptlog.Fault{File: f.Name, Code: WarnIgnoredEntry, Detail: "entry " + quote(displayName(zf.Name)) + " is no log; it is passed over"})
			continue
		}
		decoded++
		if !f.decodeMember(zf, emit) {
			return
		}
	}
	if decoded == 0 {
		f.addFault(attemptlog.Fault{File: f.Name, Code: CodeNoAttempts, Detail: "the archive holds no files, expected at least one log"})
	}
}

// decodeMember decodes one file of an archive; false means to stop.
func (f *File) decodeMember(zf *zip.File, emit emit) bool {
	part := &Part{Name: displayName(f.Name + "/" + zf.Name)}
	f.addPart(part)
	src := &source{name: part.Name, part: part}
	data, closeData, err := f.spool(zf)
	if err != nil {
		f.readFailed(src, err)
		return f.err == nil && !f.spent(f.budget)
	}
	defer closeData()
	src.r, src.size = data, data.Size()
	src.m = f.opt.Mapping.For(part.Name)
	if _, ok := f.opt.Mapping.Files[zf.Name]; ok {
		src.m = f.opt.Mapping.For(zf.Name)
	}
	head := make([]byte, min(src.size, headBytes))
	if _, err := data.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		f.stop(err)
		return false
	}
	part.Format = detect(head)
	if part.Format == formatZip {
		inner, err := newBudget(part.Name, data, src.size, f.budget.total)
		if err == nil && !isEval(inner.files) {
			err = inner.fault(CodeNestedArchive, "pack the files themselves into one archive", "found an archive inside an archive, expected logs")
		}
		if err != nil {
			part.Format = FormatArchive
			f.readFailed(src, err)
			return f.err == nil
		}
		part.Format = FormatInspectEval
		src.zip = inner
	}
	if !f.refuse(part.Name, part.Format) {
		f.decode(src, emit)
	}
	return f.err == nil
}

// sizedReaderAt is a spooled file.
type sizedReaderAt interface {
	io.ReaderAt
	Size() int64
}

type tempFile struct {
	*os.File
	size int64
}

func (t tempFile) Size() int64 { return t.size }

// spool unpacks an entry into memory or, when it is large, a temporary file.
func (f *File) spool(zf *zip.File) (sizedReaderAt, func(), error) {
	rc, err := f.budget.open(zf)
	if err != nil {
		return nil, nil, err
	}
	defer rc.Close()
	r := contextReader{f.ctx, rc}
	var small bytes.Buffer
	n, err := io.CopyN(&small, r, memorySpoolBytes)
	if errors.Is(err, io.EOF) {
		return bytes.NewReader(small.Bytes()), func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	tmp, err := os.CreateTemp(f.opt.TempDir, "rebench-ingest-*")
	if err != nil {
		return nil, nil, err
	}
	closeTemp := func() {
		tmp.Close()
		os.Remove(tmp.Name())
	}
	if _, err = tmp.Write(small.Bytes()); err == nil {
		var more int64
		more, err = io.Copy(tmp, r)
		n += more
	}
	if err != nil {
		closeTemp()
		return nil, nil, err
	}
	return tempFile{tmp, n}, closeTemp, nil
}
