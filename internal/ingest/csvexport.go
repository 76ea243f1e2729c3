package ingest

var csvColumns = []string{"type", "seq", "attempt_id", "environment"}

func (f *File) decodeCSV(src *source, emit emit) {}
