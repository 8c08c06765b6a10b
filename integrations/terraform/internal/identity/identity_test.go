package identity

import (
	"context"
	"strings"
	"testing"

	"terraform-provider-drawbridge/internal/api"
)

const audience = "https://drawbridge.example.com/o/3fa85f64-5717-4562-b3fc-2c963f66afa6"

func TestOneIdentityIsChosen(t *testing.T) {
	const key, token, trust, job, hcp = "DRAWBRIDGE_API_KEY", "DRAWBRIDGE_ACCESS_TOKEN", "DRAWBRIDGE_TRUST", "DRAWBRIDGE_ID_TOKEN", "TFC_WORKLOAD_IDENTITY_TOKEN_DRAWBRIDGE"
	github := map[string]string{trust: audience + "#00000000-5717-4562-b3fc-2c963f66afa6", "ACTIONS_ID_TOKEN_REQUEST_URL": "https://x.example.com/?a=b"}
	for _, one := range []struct {
		name   string
		config Config
		env    map[string]string
		// source, or what the error has after a "!"
		source string
	}{
		{"a key", Config{APIKey: "k"}, nil, "api_key"},
		{"an argument comes before the environment", Config{AccessToken: "a"}, map[string]string{key: "k", job: "j"}, "access_token"},
		{"two arguments", Config{APIKey: "k", Trust: audience}, nil, "!api_key and trust"},
		{"a key of the environment", Config{}, map[string]string{key: "k", "TFC_WORKLOAD_IDENTITY_TOKEN": "of another provider"}, key},
		{"two of the environment", Config{}, map[string]string{key: "k", job: "j"}, "!" + key + " and " + job},
		{"a key and a trust", Config{}, map[string]string{key: "k", trust: audience}, "!" + key + " and " + trust},
		{"a token that was exchanged for the job's", Config{}, map[string]string{token: "a", job: "j", trust: audience}, token},
		{"a token and a key", Config{}, map[string]string{token: "a", key: "k"}, "!" + key + " and " + token},
		{"GitLab", Config{}, map[string]string{job: "j"}, job},
		{"HCP Terraform", Config{}, map[string]string{hcp: "j", "TFC_WORKLOAD_IDENTITY_TOKEN": "other"}, hcp},
		{"HCP Terraform without a tag", Config{Trust: audience}, map[string]string{"TFC_WORKLOAD_IDENTITY_TOKEN": "j"}, "TFC_WORKLOAD_IDENTITY_TOKEN"},
		{"GitHub", Config{}, github, "the ID token of GitHub"},
		{"GitHub without the right", Config{Trust: audience}, nil, "!id-token: write"},
		{"GitHub with the id of a trust alone", Config{Trust: audience[33:]}, github, "!set it to the audience"},
		{"no audience", Config{Trust: "https://drawbridge.example.com"}, github, "!audience"},
		{"nothing", Config{}, nil, "!DRAWBRIDGE_API_KEY"},
	} {
		t.Run(one.name, func(t *testing.T) {
			client, err := api.NewClient("https://drawbridge.example.com/api/v1/")
			if err != nil {
				t.Fatal(err)
			}
			found, err := Resolve(client, one.config, func(name string) string { return one.env[name] })
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
