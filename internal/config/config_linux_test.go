package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/rebench"
)

func TestResolve(t *testing.T) {
	tests := []struct {
		name string
		in   Config
		env  map[string]string
		want Config
	}{
		{"defaults", Config{}, map[string]string{"HOME": "/home/ada"},
			Config{Addr: DefaultAddr, DataDir: "/home/ada/.local/share/rebench", Database: "/home/ada/.local/share/rebench/rebench.db", LogLevel: "info"}},
		{"XDG", Config{}, map[string]string{"HOME": "/home/ada", "XDG_DATA_HOME": "/srv/data"},
			Config{Addr: DefaultAddr, DataDir: "/srv/data/rebench", Database: "/srv/data/rebench/rebench.db", LogLevel: "info"}},
		{"relative XDG is ignored", Config{}, map[string]string{"HOME": "/home/ada", "XDG_DATA_HOME": "data"},
			Config{Addr: DefaultAddr, DataDir: "/home/ada/.local/share/rebench", Database: "/home/ada/.local/share/rebench/rebench.db", LogLevel: "info"}},
		{"environment", Config{}, map[string]string{EnvAddr: ":9", EnvDataDir: "/d", EnvDatabase: "/x.db", EnvLogLevel: "debug"},
			Config{Addr: ":9", DataDir: "/d", Database: "/x.db", LogLevel: "debug"}},
		{"flags win", Config{Addr: "[::1]:7", DataDir: "/flag"}, map[string]string{EnvAddr: ":9", EnvDataDir: "/d"},
			Config{Addr: "[::1]:7", DataDir: "/flag", Database: filepath.Join("/flag", "rebench.db"), LogLevel: "info"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.in.Resolve(func(k string) string { return tt.env[k] })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	tests := []struct {
		name string
		in   Config
		want string
	}{
		{"address without port", Config{Addr: "localhost", DataDir: "/d"}, `"localhost" is not host:port`},
		{"log level", Config{LogLevel: "loud", DataDir: "/d"}, `"loud" is not one of`},
		{"no home", Config{}, "--data-dir"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.in.Resolve(func(string) string { return "" })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want one with %q", err, tt.want)
			}
			if rebench.ErrorCode(err) != rebench.CodeInvalid {
				t.Errorf("code %s", rebench.ErrorCode(err))
			}
		})
	}
}
