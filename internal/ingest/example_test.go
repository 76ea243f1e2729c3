package ingest_test

import (
	"context"
	"fmt"
	"strings"

	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
)

// A score log of METR's task-protected-scoring says neither whose it is nor when
// the attempt started; the mapping does.
func Example() {
	const log = "timestamp,score,message,details\n" +
		"2025-03-09T01:30:00,1.25,{},{}\r\n" +
		"2025-03-09T02:00:00,nan,\"{\"\"timeout\"\": true}\",{}\r\n"
	mapping := ingest.Mapping{
		AttemptID: "run-7", Environment: "optimize_kernel", Profile: "gpu", Agent: &ingest.MappingAgent{Name: "my agent"},
		StartedAt: "2025-03-09T01:00:00", Zone: "UTC",
	}
	f := ingest.Open(context.Background(), "score.log", strings.NewReader(log), int64(len(log)), ingest.Options{Mapping: mapping})
	for a := range f.Attempts() {
		fmt.Println(a.Dataset, a.NativeID, a.Header.Environment.ID)
		for line := range a.Lines() {
			if s, ok := line.Event.(*attemptlog.Score); ok {
				fmt.Printf("%v s: valid %v %s\n", *s.T, s.Valid, s.Message)
			}
		}
		fmt.Println("best raw score", *a.Summary().Best.Raw)
	}
	for _, fault := range f.Faults() {
		fmt.Println(fault)
	}
	// Output:
	// uploads run-7 optimize_kernel
	// 1800 s: valid true {}
	// 3600 s: valid false {"timeout":true}
	// best raw score 1.25
}

// What is missing is reported, once for each field.
func ExampleFile_NeedsMapping() {
	const log = "timestamp,score,message,details\n"
	f := ingest.Open(context.Background(), "score.log", strings.NewReader(log), int64(len(log)), ingest.Options{})
	for range f.Attempts() {
	}
	fmt.Println(f.NeedsMapping())
	fmt.Println(f.Faults()[0])
	// Output:
	// [attempt_id environment profile agent zone started_at]
	// score.log: attempt_id: 1 attempt lacks attempt_id, expected it in the mapping (missing_mapping)
}
