package access

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"terraform-provider-drawbridge/internal/api"
)

const (
	maxText         = 1000
	maxReason       = 500
	maxHolderOrigin = 38
)

// problem is an error at an argument.
type problem struct{ argument, summary, detail string }

func (p *problem) Error() string { return p.summary + ": " + p.detail }

// arguments by the fields of requests that they fill.
var arguments = map[string]string{
	"resourceIds": "resources", "resourceNames": "resources", "leaseSeconds": "lease_seconds", "durationHours": "duration_hours",
	"reason": "reason", "ticket": "ticket", "ipv4Address": "ipv4_address", "ipv6Address": "ipv6_address",
}

// explain turns what went wrong into diagnostics.
func (o *opening) explain(err error) {
	const refused = "Drawbridge refused the access"
	if wrong, ok := errors.AsType[*problem](err); ok {
		o.diags.AddAttributeError(path.Root(wrong.argument), wrong.summary, clean(wrong.detail))
		return
	}
	refusal, isRefusal := errors.AsType[*api.Error](err)
	switch {
	case !isRefusal || refusal.Code == "":
		o.diags.AddError("Nothing was opened", clean(err.Error()))
	case refusal.Status == http.StatusUnauthorized:
		o.diags.AddError("Drawbridge refused "+o.Source, clean(refusal.Message+". The audit logs tell administrators more."+o.Hint))
	case len(refusal.Fields) == 0:
		o.diags.AddError(refused, clean(refusal.Message))
	default:
		for field, message := range refusal.Fields {
			at := path.Empty()
			if name := arguments[strings.Split(field, ".")[0]]; name != "" {
				field, at = name, path.Root(name)
			}
			o.diags.AddAttributeError(at, refused, clean(field+" "+message))
		}
	}
}

// clean makes text of the server fit to be shown.
func clean(text string) string {
	shown := []rune(strings.Map(func(one rune) rune {
		if unicode.IsControl(one) && one != '\n' {
			return -1
		}
		return one
	}, text))
	return string(shown[:min(len(shown), maxText)])
}

// requireRelease returns an error when a server is older than the release before the provider's.
func requireRelease(own, server string) error {
	var major, minor, patch, ownMajor, ownMinor int
	_, notOwn := fmt.Sscanf(own, "%d.%d.%d", &ownMajor, &ownMinor, &patch)
	_, notServer := fmt.Sscanf(server, "%d.%d.%d", &major, &minor, &patch)
	isEnough := major > ownMajor || major == ownMajor && minor >= ownMinor-1 || major == ownMajor-1 && ownMinor == 0
	if notOwn != nil || notServer != nil || isEnough {
		return nil
	}
	return fmt.Errorf("this is the provider %s, and the server is %s: it works with its own release of the server, the one before, and later ones", own, server)
}

// origins say which run this is, by variables of what runs it. Nothing proves them.
var origins = [][2]string{
	{"TFC_RUN_ID", "$TFC_RUN_ID in $TFC_WORKSPACE_SLUG"},
	{"GITHUB_RUN_ID", "$GITHUB_REPOSITORY run $GITHUB_RUN_ID attempt $GITHUB_RUN_ATTEMPT"},
	{"CI_JOB_URL", "$CI_JOB_URL"},
	{"PULL_NUM", "$BASE_REPO_OWNER/$BASE_REPO_NAME#$PULL_NUM"},
	{"TF_VAR_spacelift_run_id", "spacelift run $TF_VAR_spacelift_run_id"},
}

func origin() string {
	host, _ := os.Hostname()
	text := "terraform on " + host
	for _, one := range origins {
		if os.Getenv(one[0]) != "" {
			text = os.ExpandEnv(one[1])
			break
		}
	}
	text = clean(text)
	return text[:min(len(text), maxReason)]
}

var notInHolder = regexp.MustCompile(`[^A-Za-z0-9._#/-]+`)

// newHolder is a holder that nothing else uses: parallel runs behind one address have a session each. It has the end of a long
// origin, which tells more than the beginning.
func newHolder(origin string) string {
	short := notInHolder.ReplaceAllString(origin, "-")
	return "tf:" + short[max(0, len(short)-maxHolderOrigin):] + ":" + rand.Text()[:16]
}
