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

// Identity sends requests that are authenticated. Several goroutines may use it.
type Identity struct {
	Client *api.Client
	// Source names where the credential comes from; Hint is what may help when it is refused.
	Source, Hint string
	// IsFixed: there is one credential, and none after it.
	IsFixed bool
	// Until is when the credential ends; zero: it does not. After the first request it changes only when it is not fixed.
	Until time.Time

	trustID string
	// idToken gets an ID token to exchange; nil for keys and access tokens.
	idToken func(ctx context.Context) (string, error)

	mutex         sync.Mutex
	authorization string
	refusal       error
}

type setting struct{ name, value string }

// Resolve chooses the identity that is given: arguments come before the environment. Where two of one rank are given it
// returns an error that names both. Both return "" for what is not set. An ID token that is accepted once is exchanged at once, before it is too old.
func Resolve(ctx context.Context, client *api.Client, argument, env func(string) string) (*Identity, error) {
	key, token, trust := lookup(argument, "api_key"), lookup(argument, "access_token"), lookup(argument, "trust")
	keyless := trust
	if key.value+token.value+trust.value == "" {
		key, token, trust = lookup(env, "DRAWBRIDGE_API_KEY"), lookup(env, "DRAWBRIDGE_ACCESS_TOKEN"), lookup(env, "DRAWBRIDGE_TRUST")
		// a job's ID token stays in its environment after `drawbridge token` has exchanged it
		if token.value == "" {
			keyless = lookup(env, "DRAWBRIDGE_TRUST", "DRAWBRIDGE_ID_TOKEN", "TFC_WORKLOAD_IDENTITY_TOKEN_DRAWBRIDGE")
		}
	}
	given := slices.DeleteFunc([]setting{key, token, keyless}, func(one setting) bool { return one.value == "" })
	switch {
	case len(given) > 1:
		return nil, fmt.Errorf("%s and %s are both set: remove one of them", given[0].name, given[1].name)
	case key.value != "":
		return &Identity{Client: client, Source: key.name, IsFixed: true, authorization: "ApiKey " + key.value}, nil
	case token.value != "":
		return &Identity{
			Client: client, Source: token.name, Hint: " `drawbridge token` prints a new one, which is valid for 5 to 15 minutes.",
			IsFixed: true, Until: time.Now().Add(tokenLife), authorization: "Bearer " + token.value,
		}, nil
	}
	identity, err := ofJob(client, trust, env)
	if err == nil && identity.IsFixed {
		ctx, cancel := context.WithTimeout(ctx, margin)
		defer cancel()
		// the first request returns what failed
		_, _ = identity.authorized(ctx)
	}
	return identity, err
}

func lookup(in func(string) string, names ...string) setting {
	for _, name := range names {
		if value := strings.TrimSpace(in(name)); value != "" {
			return setting{name, value}
		}
	}
	return setting{}
}

var trustForm = regexp.MustCompile(`^(?:(https?://\S+/o/[0-9a-f-]{36})(?:#([0-9a-f-]{36}))?|([0-9a-f-]{36}))?$`)

// ofJob is the identity of a job with an ID token. trust is an audience, with # and an id where several trusts fit, or an
// id alone, or nothing.
func ofJob(client *api.Client, trust setting, env func(string) string) (*Identity, error) {
	parts := trustForm.FindStringSubmatch(trust.value)
	if parts == nil {
		return nil, fmt.Errorf("%s must be a trust's audience, like https://drawbridge.example.com/o/3fa85f64-5717-4562-b3fc-2c963f66afa6, or its id", trust.name)
	}
	audience, identity := parts[1], &Identity{Client: client, trustID: parts[2] + parts[3]}
	token := lookup(env, "DRAWBRIDGE_ID_TOKEN", "TFC_WORKLOAD_IDENTITY_TOKEN_DRAWBRIDGE", "TFC_WORKLOAD_IDENTITY_TOKEN")
	request := env("ACTIONS_ID_TOKEN_REQUEST_URL")
	switch {
	case token.value != "":
		identity.Source, identity.IsFixed = token.name, true
		identity.Hint = " An ID token is accepted once, within ten minutes after it was issued: in one walk."
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

// Send sends a request as this identity, within a time.
func (i *Identity) Send(ctx context.Context, within time.Duration, request api.Request) (err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if request.Authorization, err = i.authorized(ctx); err != nil {
		return err
	}
	return i.Client.Send(ctx, request)
}

// authorized returns the header of the next request.
func (i *Identity) authorized(ctx context.Context) (string, error) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	isCurrent := i.authorization != "" && (i.IsFixed || time.Until(i.Until) > margin)
	if isCurrent || i.refusal != nil {
		return i.authorization, i.refusal
	}
	token, err := i.idToken(ctx)
	if err != nil {
		return "", err
	}
	var answer api.WorkloadToken
	body := api.ExchangeIDToken{IDToken: token, TrustID: i.trustID}
	err = i.Client.Send(ctx, api.Request{Method: http.MethodPost, Path: "/api/v1/auth/oidc/exchange", Body: body, Into: &answer, Once: true})
	if refusal, ok := errors.AsType[*api.Error](err); ok && i.IsFixed && !refusal.IsTemporary() {
		i.refusal = err
	}
	if err != nil {
		return "", err
	}
	i.authorization = "Bearer " + answer.AccessToken
	i.Until = time.Now().Add(time.Duration(answer.ExpiresIn) * time.Second)
	return i.authorization, nil
}

// githubToken requests an ID token of the job from GitHub's runner.
func githubToken(ctx context.Context, address, token, audience string) (string, error) {
	client, err := api.NewClient(address)
	if err != nil || client.IsUnprotected {
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
