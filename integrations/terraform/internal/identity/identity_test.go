package identity

import (
	"context"
	"strings"
	"testing"

	"terraform-provider-drawbridge/internal/api"
)

const audience = "https://drawbridge.example.com/o/3fa85f64-5717-4562-b3fc-2c963f66afa6"

type arguments = map[string]string

func TestOneIdentityIsChosen(t *testing.T) {
	const key, token, trust, job, hcp = "DRAWBRIDGE_API_KEY", "DRAWBRIDGE_ACCESS_TOKEN", "DRAWBRIDGE_TRUST", "DRAWBRIDGE_ID_TOKEN", "TFC_WORKLOAD_IDENTITY_TOKEN_DRAWBRIDGE"
	github := map[string]string{trust: audience + "#00000000-5717-4562-b3fc-2c963f66afa6", "ACTIONS_ID_TOKEN_REQUEST_URL": "https://x.example.com/?a=b"}
	for _, one := range []struct {
		name  string
		given arguments
		env   map[string]string
		// source, or what the error has after a "!"
		source string
	}{
		{"a key", arguments{"api_key": "k"}, nil, "api_key"},
		{"an argument comes before the environment", arguments{"access_token": "a"}, map[string]string{key: "k", job: "j"}, "access_token"},
		{"two arguments", arguments{"api_key": "k", "trust": audience}, nil, "!api_key and trust"},
		{"a key of the environment", nil, map[string]string{key: "k", "TFC_WORKLOAD_IDENTITY_TOKEN": "of another provider"}, key},
		{"two of the environment", nil, map[string]string{key: "k", job: "j"}, "!" + key + " and " + job},
		{"a key and a trust", nil, map[string]string{key: "k", trust: audience}, "!" + key + " and " + trust},
		{"a token that was exchanged for the job's", nil, map[string]string{token: "a", job: "j", trust: audience}, token},
		{"a token and a key", nil, map[string]string{token: "a", key: "k"}, "!" + key + " and " + token},
		{"GitLab", nil, map[string]string{job: "j"}, job},
		{"HCP Terraform", nil, map[string]string{hcp: "j", "TFC_WORKLOAD_IDENTITY_TOKEN": "other"}, hcp},
		{"HCP Terraform without a tag", arguments{"trust": audience}, map[string]string{"TFC_WORKLOAD_IDENTITY_TOKEN": "j"}, "TFC_WORKLOAD_IDENTITY_TOKEN"},
		{"GitHub", nil, github, "the ID token of GitHub"},
		{"GitHub without the right", arguments{"trust": audience}, nil, "!id-token: write"},
		{"GitHub with the id of a trust alone", arguments{"trust": audience[33:]}, github, "!set it to the audience"},
		{"no audience", arguments{"trust": "https://drawbridge.example.com"}, github, "!audience"},
		{"nothing", nil, nil, "!DRAWBRIDGE_API_KEY"},
	} {
		t.Run(one.name, func(t *testing.T) {
			client, err := api.NewClient("https://drawbridge.example.com/api/v1/")
			if err != nil {
				t.Fatal(err)
			}
			found, err := Resolve(t.Context(), client, func(name string) string { return one.given[name] }, func(name string) string { return one.env[name] })
			refused, isRefused := strings.CutPrefix(one.source, "!")
			switch {
			case isRefused && (err == nil || !strings.Contains(err.Error(), refused)):
				t.Errorf("not refused for %s: %v", refused, err)
			case !isRefused && (err != nil || found.Source != one.source):
				t.Errorf("not from %s: %+v %v", one.source, found, err)
			}
		})
	}
}

func TestGitHubIsAskedOverHTTPSOnly(t *testing.T) {
	if _, err := githubToken(context.Background(), "http://runner.example.com/token?a=b", "t", audience); err == nil {
		t.Error("the request token was sent in the clear")
	}
}
