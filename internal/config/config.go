// Package config resolves the settings of the server: a flag beats the environment,
// which beats the default.
package config

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// Names of the settings in the environment.
const (
	EnvAddr     = "REBENCH_ADDR"
	EnvDataDir  = "REBENCH_DATA_DIR"
	EnvDatabase = "REBENCH_DATABASE"
	EnvLogLevel = "REBENCH_LOG_LEVEL"
	// EnvAuditShare is the share of winners drawn for audit each month.
	EnvAuditShare = "REBENCH_AUDIT_SHARE"
	EnvToken      = "REBENCH_TOKEN" // an access token, for clients and as the server's own
)

// RunnerAuto is the WithRunner that looks for a runner.
const RunnerAuto = "auto"

// DefaultAddr is where the server listens unless told otherwise: this machine only.
const DefaultAddr = "127.0.0.1:8080"

// DefaultAuditShare is the share of winners drawn for audit each month unless told
// otherwise.
const DefaultAuditShare = validity.DefaultAuditShare

// databaseFile is the name of the database inside the data directory.
const databaseFile = "rebench.db"

// Config holds the settings of the server.
type Config struct {
	Addr     string // host:port; port 0 lets the system choose
	DataDir  string // directory of the database and of everything else the server keeps
	Database string // database file; "" is rebench.db in DataDir
	LogLevel string // debug, info, warn or error
	Token    string // an administrator's token, from the environment only; "" for none
	// WithRunner starts a runner beside the server: its program, RunnerAuto to look
	// for one, or "" for none.
	WithRunner string
	// AuditShare is the share of winners that is drawn for audit each month, above 0 and
	// at most 1, as text; "" is DefaultAuditShare.
	AuditShare string
}

// Resolve fills empty fields from the environment and then from the defaults, and
// checks the result. getenv is os.Getenv outside tests.
func (c Config) Resolve(getenv func(string) string) (Config, error) {
	for _, f := range []struct {
		field *string
		name  string
	}{{&c.Addr, EnvAddr}, {&c.DataDir, EnvDataDir}, {&c.Database, EnvDatabase}, {&c.LogLevel, EnvLogLevel}, {&c.AuditShare, EnvAuditShare}} {
		if *f.field == "" {
			*f.field = getenv(f.name)
		}
	}
	c.Token = getenv(EnvToken)
	if c.Addr == "" {
		c.Addr = DefaultAddr
	}
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		return c, rebench.Errorf(rebench.CodeInvalid, "address %q is not host:port such as %s", c.Addr, DefaultAddr)
	}
	if c.LogLevel == "" {
		c.LogLevel = "info"
	}
	if _, err := c.Level(); err != nil {
		return c, err
	}
	if _, err := c.Share(); err != nil {
		return c, err
	}
	if c.DataDir == "" {
		dir, err := userDataDir(getenv)
		if err != nil {
			return c, rebench.Errorf(rebench.CodeInvalid, "the data directory is not known (%w); give one with --data-dir", err)
		}
		c.DataDir = filepath.Join(dir, "rebench")
	}
	if c.Database == "" {
		c.Database = filepath.Join(c.DataDir, databaseFile)
	}
	return c, nil
}

// Share returns AuditShare as a number.
func (c Config) Share() (float64, error) {
	if c.AuditShare == "" {
		return DefaultAuditShare, nil
	}
	x, err := strconv.ParseFloat(c.AuditShare, 64)
	if err != nil || !(x > 0 && x <= 1) {
		return 0, rebench.Errorf(rebench.CodeInvalid, "audit share %q is not a number above 0 and at most 1, such as 0.2", c.AuditShare)
	}
	return x, nil
}

// Level returns LogLevel as slog knows it.
func (c Config) Level() (slog.Level, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return 0, rebench.Errorf(rebench.CodeInvalid, "log level %q is not one of debug, info, warn, error", c.LogLevel)
	}
	return level, nil
}

// userDataDir is where programs keep a user's data on this system.
func userDataDir(getenv func(string) string) (string, error) {
	switch runtime.GOOS {
	case "windows":
		if dir := getenv("LocalAppData"); dir != "" {
			return dir, nil
		}
		return "", errors.New("LocalAppData is not set")
	case "darwin":
		home, err := os.UserHomeDir()
		return filepath.Join(home, "Library", "Application Support"), err
	}
	// The XDG specification has relative paths ignored.
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "share"), nil
	}
	return "", errors.New("neither XDG_DATA_HOME nor HOME is set")
}

// Version names this build: the module version, the commit, or "devel".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + strings.ToLower(s.Value[:min(12, len(s.Value))])
		}
	}
	return "devel"
}
