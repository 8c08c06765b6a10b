package access

import (
	"strings"
	"testing"
)

func TestTheOriginOfARun(t *testing.T) {
	for _, one := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"TFC_RUN_ID": "run-1", "TFC_WORKSPACE_SLUG": "acme/network"}, "run-1 in acme/network"},
		{map[string]string{"GITHUB_RUN_ID": "4", "GITHUB_REPOSITORY": "acme/infra", "GITHUB_RUN_ATTEMPT": "2"}, "acme/infra run 4 attempt 2"},
		{map[string]string{"CI_JOB_URL": "https://gitlab.example.com/jobs/7"}, "https://gitlab.example.com/jobs/7"},
		{map[string]string{"PULL_NUM": "3", "BASE_REPO_OWNER": "acme", "BASE_REPO_NAME": "infra"}, "acme/infra#3"},
		{map[string]string{"CI_JOB_URL": strings.Repeat("x", 600) + "\x1b[2J"}, strings.Repeat("x", 500)},
	} {
		for _, known := range origins {
			t.Setenv(known[0], "")
		}
		for name, value := range one.env {
			t.Setenv(name, value)
		}
		if got := origin(); got != one.want {
			t.Errorf("%q, not %q", got, one.want)
		}
		first, second := newHolder(one.want), newHolder(one.want)
		if first == second || len(first) > 64 || strings.ContainsAny(first, " \n") {
			t.Errorf("%q and %q", first, second)
		}
	}
}

func TestTheServerIsRecentEnough(t *testing.T) {
	for _, one := range []struct {
		own, server string
		isEnough    bool
	}{
		{"0.3.0", "0.3.1", true}, {"0.3.0", "0.2.0", true}, {"0.3.0", "0.1.9", false}, {"0.3.0", "1.0.0", true},
		{"1.0.0", "0.9.0", true}, {"1.1.0", "0.9.0", false}, {"dev", "0.1.0", true}, {"0.3.0", "", true},
	} {
		if err := requireRelease(one.own, one.server); (err == nil) != one.isEnough {
			t.Errorf("provider %s, server %s: %v", one.own, one.server, err)
		}
	}
}

func TestTextsOfOthersAreClean(t *testing.T) {
	if got := clean("a\x1b[31m\u0000b\nc" + strings.Repeat("ä", 2000)); !strings.HasPrefix(got, "a[31mb\nc") || len([]rune(got)) != maxText {
		t.Errorf("%q", got[:20])
	}
}
