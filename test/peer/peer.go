// Package peer holds the one rule that all tests against real peers follow:
// a browser, a client library or a server that someone else wrote is used when
// it is installed, and a test that cannot have it says so.
//
// scripts/setup-test.sh installs the peers. With TURNWISE_REQUIRE_PEERS=1 in the
// environment, as on CI, a missing peer fails the test that needs it, so that a
// run cannot turn green by skipping.
package peer

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Missing ends the test because a peer is not there: it fails the test where
// peers are required, and skips it elsewhere. The reason should say what is
// missing; how to get it is added.
func Missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("TURNWISE_REQUIRE_PEERS") == "1" {
		t.Fatalf("a required peer is missing: %s (run scripts/setup-test.sh)", reason)
	}
	t.Skipf("SKIPPED, a peer is missing: %s (run scripts/setup-test.sh to have it)", reason)
}

// Program returns the path of the first of these programs that is installed.
// When none is, the test ends as Missing says.
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, "none of these programs is installed: "+strings.Join(names, ", "))
	return ""
}

// NodeModules returns the absolute path of the npm packages installed in
// folder, which is relative to the test's own. Without them the test ends as
// Missing says.
func NodeModules(t testing.TB, folder string) string {
	t.Helper()
	modules, err := filepath.Abs(filepath.Join(folder, "node_modules"))
	if err != nil {
		t.Fatalf("path of %s: %v", folder, err)
	}
	if _, err := os.Stat(modules); err != nil {
		Missing(t, "the npm packages of "+folder+" are not installed")
	}
	return modules
}
