package ingest

import "rebench/internal/attemptlog"

// Limits of what is decoded. Each has its own fault.
const (
	MaxFaults        = attemptlog.MaxFaults // faults and, apart, warnings kept for one file
	MaxAttempts      = 1_000_000            // attempts in one file
	MaxEntries       = 1_000_000            // score entries of one attempt in a format that is held in memory
	MaxDepth         = 512                  // nesting of foreign JSON
	MaxRowBytes      = 8 << 20              // one line of JSON lines
	MaxCellBytes     = 8 << 20              // one CSV cell; a row may have twice that
	MaxKeyBytes      = 64 << 10             // one JSON key
	MaxKeys          = 100_000              // keys of one JSON object that is looked into
	MaxCells         = 1024                 // cells of one CSV row
	MaxNumberBytes   = 4 << 10              // one JSON number
	MaxTextBytes     = 64 << 10             // one name, id or other short text
	MaxMessageBytes  = 256 << 10            // one message or details value; longer ones are cut and said to be
	MaxHeldBytes     = 64 << 20             // bytes of a Vivaria score log, or of one Inspect sample's scores, which are held in memory
	MaxSampleScores  = 100_000              // scores of one Inspect sample
	MaxZipEntries    = 100_000              // entries of one zip archive
	MaxZipDirectory  = 64 << 20             // bytes of a zip archive's directory
	MaxDecompressed  = 4 << 30              // bytes that one archive may expand to
	MaxRatio         = 500                  // bytes out for each byte in, for archives over RatioFloor
	RatioFloor       = 16 << 20             // bytes that any archive may expand to, whatever its ratio
	maxNotes         = 20                   // remarks about values altered within one entry
	headBytes        = 64 << 10             // what Detect needs of a file
	memorySpoolBytes = 4 << 20              // archive members up to this size are held in memory
)
