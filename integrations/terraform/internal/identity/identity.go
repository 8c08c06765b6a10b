// Package identity finds out as whom the provider acts, and exchanges ID tokens of CI jobs.
package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"terraform-provider-drawbridge/internal/api"
)

const (
	// margin is what an access token has left at least when it is used: it could end on the way
	margin = 30 * time.Second
	// tokenLife is how long a token of `drawbridge token` is valid at least
	tokenLife = 5 * time.Minute
)

// Config has the arguments of the provider; "" where one is not set.
type Config struct{ Trust, APIKey, AccessToken string }

// Identity authenticates requests. Several goroutines may use it.
type Identity struct {
	// Source names where the credential comes from.
	Source string
	// IsFixed: there is one credential, and none after it.
	IsFixed bool

	client  *api.Client
	trustID string
	// idToken gets an ID token to exchange; nil for keys and access tokens.
	idToken func(ctx context.Context) (string, error)

	mutex         sync.Mutex
	authorization string
	until         time.Time
	refusal       error
}

type setting struct{ name, value string }

// Resolve chooses the identity that is given: arguments come before the environment. Where two of one rank are given it
// returns an error that names both.
func Resolve(client *api.Client, config Config, env func(string) string) (*Identity, error) {
	given := []setting{{"api_key", config.APIKey}, {"access_token", config.AccessToken}, {"trust", config.Trust}}
	if config == (Config{}) {
		keyless := lookup(env, "DRAWBRIDGE_TRUST", "DRAWBRIDGE_ID_TOKEN", "TFC_WORKLOAD_IDENTITY_TOKEN_DRAWBRIDGE")
		given = []setting{lookup(env, "DRAWBRIDGE_API_KEY"), lookup(env, "DRAWBRIDGE_ACCESS_TOKEN"), keyless}
		if given[1].value != "" {
			// a job's ID token stays in its environment after `drawbridge token` has exchanged it
			given = given[:2]
		}
	}
	set := slices.DeleteFunc(slices.Clone(given), func(one setting) bool { return one.value == "" })
	switch {
	case len(set) > 1:
		return nil, fmt.Errorf("%s and %s are both set: remove one of them", set[0].name, set[1].name)
	case len(set) == 1 && set[0] == given[0]:
		return &Identity{Source: set[0].name, IsFixed: true, authorization: "ApiKey " + set[0].value}, nil
	case len(set) == 1 && set[0] == given[1]:
		return &Identity{Source: set[0].name, IsFixed: true, authorization: "Bearer " + set[0].value, until: time.Now().Add(tokenLife)}, nil
	case config.Trust != "":
		return keyless(client, given[2], env)
	default:
		return keyless(client, lookup(env, "DRAWBRIDGE_TRUST"), env)
	}
}

func lookup(env func(string) string, names ...string) setting {
	for _, name := range names {
		if value := strings.TrimSpace(env(name)); value != "" {
			return setting{name, value}
		}
	}
	return setting{}
}

var trustForm = regexp.MustCompile(`^(?:(https?://\S+/o/[0-9a-f-]{36})(?:#([0-9a-f-]{36}))?|([0-9a-f-]{36}))?$`)

// keyless is the identity of a job with an ID token. trust is an audience, with # and an id where several trusts fit, or an
// id alone, or nothing.
func keyless(client *api.Client, trust setting, env func(string) string) (*Identity, error) {
	parts := trustForm.FindStringSubmatch(trust.value)
	if parts == nil {
		return nil, fmt.Errorf("%s must be a trust's audience, like https://drawbridge.example.com/o/3fa85f64-5717-4562-b3fc-2c963f66afa6, or its id", trust.name)
	}
	audience, identity := parts[1], &Identity{client: client, trustID: parts[2] + parts[3]}
	token := lookup(env, "DRAWBRIDGE_ID_TOKEN", "TFC_WORKLOAD_IDENTITY_TOKEN_DRAWBRIDGE", "TFC_WORKLOAD_IDENTITY_TOKEN")
	request := env("ACTIONS_ID_TOKEN_REQUEST_URL")
	switch {
	case token.value != "":
		identity.Source, identity.IsFixed = token.name, true
		identity.idToken = func(context.Context) (string, error) { return token.value, nil }
	case request != "" && audience != "":
		identity.Source = "the ID token of GitHub"
		identity.idToken = func(ctx context.Context) (string, error) {
			return githubToken(ctx, request, env("ACTIONS_ID_TOKEN_REQUEST_TOKEN"), audience)
		}
	case trust.value != "":
		return nil, fmt.Errorf("%s is set, and there is no ID token for it: on GitHub set it to the audience and add `permissions: id-token: write`, "+
			"on HCP Terraform set TFC_WORKLOAD_IDENTITY_AUDIENCE_DRAWBRIDGE, elsewhere DRAWBRIDGE_ID_TOKEN", trust.name)
	default:
		return nil, errors.New("set DRAWBRIDGE_API_KEY, or DRAWBRIDGE_ACCESS_TOKEN=$(drawbridge token), or DRAWBRIDGE_TRUST to the audience of a trust")
	}
	return identity, nil
}

// Prepare exchanges an ID token that is accepted once, before it is too old. Authorization returns what failed.
func (i *Identity) Prepare(ctx context.Context) {
	if i.idToken != nil && i.IsFixed {
		ctx, cancel := context.WithTimeout(ctx, margin)
		defer cancel()
		_, _ = i.Authorization(ctx)
	}
}

// Authorization returns the header of the next request.
func (i *Identity) Authorization(ctx context.Context) (string, error) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	isCurrent := i.authorization != "" && (i.IsFixed || time.Until(i.until) > margin)
	if isCurrent || i.refusal != nil {
		return i.authorization, i.refusal
	}
	token, err := i.idToken(ctx)
	if err != nil {
		return "", err
	}
	var answer api.WorkloadToken
	body := api.ExchangeIDToken{IDToken: token, TrustID: i.trustID}
	err = i.client.Send(ctx, api.Request{Method: http.MethodPost, Path: "/api/v1/auth/oidc/exchange", Body: body, Into: &answer, Once: true})
	if refusal, ok := errors.AsType[*api.Error](err); ok && i.IsFixed && !refusal.IsTemporary() {
		i.refusal = err
	}
	if err != nil {
		return "", err
	}
	i.authorization = "Bearer " + answer.AccessToken
	i.until = time.Now().Add(time.Duration(answer.ExpiresIn) * time.Second)
	return i.authorization, nil
}

// Until is when a fixed credential ends; zero: it does not.
func (i *Identity) Until() time.Time {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if i.IsFixed {
		return i.until
	}
	return time.Time{}
}

// githubToken requests an ID token of the job from GitHub's runner.
func githubToken(ctx context.Context, address, token, audience string) (string, error) {
	client, err := api.NewClient(address)
	if err != nil || api.IsUnprotected(address) {
		return "", errors.New("ACTIONS_ID_TOKEN_REQUEST_URL must be an https address")
	}
	_, query, _ := strings.Cut(address, "?")
	path := "?" + query + "&audience=" + url.QueryEscape(audience)
	var answer struct{ Value string }
	if err := client.Send(ctx, api.Request{Method: http.MethodGet, Path: path, Authorization: "Bearer " + token, Into: &answer}); err != nil {
		return "", fmt.Errorf("GitHub issued no ID token: %w", err)
	}
	return answer.Value, nil
}
