package access_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// withBug is set in test runs of a provider with a planted bug.
const withBug = "DRAWBRIDGE_TEST_BUG"

// TestPlantedBugsAreFound runs a test with each bug in the source: it has to fail.
func TestPlantedBugsAreFound(t *testing.T) {
	t.Parallel()
	running(t)
	if os.Getenv(withBug) != "" {
		t.Skip("this is such a run")
	}
	bugs := []struct{ name, file, find, replace, test string }{
		{"nothing is stopped after a failed Open", "access/open.go", "\t\tlease.stop(ctx)\n\t\treturn\n", "\t\treturn\n", "TestAPortThatAcceptsNothingIsClosed"},
		{"503 ends renewals", "access/lease.go", "case ok && hasEnded(refusal):", "case ok && refusal != nil:", "TestRenewalsGoOnAfterAFault"},
		{"Renew changes the private data", "access/lease.go", "\tcase err == nil:\n\t\tresp", "\tcase err == nil:\n\t\t_ = resp.Private.SetKey(ctx, \"n\", []byte(`1`))\n\t\tresp", "TestRenewalsGoOnAfterAFault"},
		{"renewals by the server's clock", "access/open.go", "resp.RenewAt = lease.renewAt()", "resp.RenewAt, _ = time.Parse(time.RFC3339, session.ExpiresAt)", "TestRenewalsGoOnAfterAFault"},
		{"Close ends with the run", "access/lease.go", "context.WithoutCancel(ctx), closeTimeout", "ctx, closeTimeout", "TestACancelledRunCloses"},
		{"a token among the outputs", "access/open.go", "\t\to.fill(session)", "\t\tsession.ID = lease.Token\n\t\to.fill(session)", "TestOutputs"},
		{"a proxy", "api/client.go", "DialContext: dial}", "DialContext: dial, Proxy: http.ProxyFromEnvironment}", "TestNoProxyIsUsed"},
		{"PARTIAL is enough", "access/open.go", "case session.Status == \"PARTIAL\" && or(o.AllowPartial, false):", "case session.Status == \"PARTIAL\":", "TestWhatCannotBeAppliedIsClosed"},
		{"one holder for all", "access/report.go", "rand.Text()[:16]", "rand.Text()[:0]", "TestTwentyWalksBehindOneAddress"},
		{"a request for approval is left", "access/open.go", "_ = o.Send(context.WithoutCancel(ctx), stopTimeout", "_ = o.Send(ctx, stopTimeout", "TestAnApprovalIsWaitedFor"},
	}
	tests := []string{}
	for _, bug := range bugs {
		tests = append(tests, bug.test)
	}
	if output := goTest(strings.Join(tests, "|")); strings.Contains(output, "FAIL") {
		t.Fatalf("these fail without a bug:\n%s", output)
	}
	for _, bug := range bugs {
		t.Run(bug.name, func(t *testing.T) {
			file, err := filepath.Abs(filepath.Join("..", bug.file))
			if err != nil {
				t.Fatal(err)
			}
			source, err := os.ReadFile(file)
			if err != nil || strings.Count(string(source), bug.find) != 1 {
				t.Fatalf("%s: not once there: %q %v", bug.file, bug.find, err)
			}
			changed := filepath.Join(t.TempDir(), "changed.go")
			overlay := changed + ".json"
			text, _ := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
			for name, content := range map[string]string{changed: strings.Replace(string(source), bug.find, bug.replace, 1), overlay: string(text)} {
				if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if output := goTest(bug.test, "-overlay", overlay); !strings.Contains(output, "--- FAIL: "+bug.test) {
				t.Errorf("not found by %s:\n%s", bug.test, output)
			}
		})
	}
}

// goTest runs tests, linked without what debuggers need. With flags, which plant a bug, they do not wait long for what will not come.
func goTest(tests string, flags ...string) string {
	run := exec.Command("go", append(append([]string{"test", "-count=1", "-vet=off", "-ldflags=-s -w", "-run", "^(" + tests + ")$"}, flags...), "../api", ".")...)
	if len(flags) > 0 {
		run.Env = append(os.Environ(), withBug+"=1")
	}
	output, _ := run.CombinedOutput()
	return string(output)
}
