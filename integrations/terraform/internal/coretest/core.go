// Package coretest plays the core of Terraform or OpenTofu towards the provider, over protocol 6, and refuses what the core
// refuses. Its user is a test that starts one walk for each plan or apply.
package coretest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"terraform-provider-drawbridge/internal/provider"
)

const (
	resourceType = "drawbridge_access"
	// OpenTofu gives up a Close after this time
	closeLimit = 10 * time.Second
)

// Mode is how a core treats ephemeral resources.
type Mode struct {
	// IsOpenTofu: Close gets the private data of the last renewal, within a limit. Terraform passes those of Open.
	IsOpenTofu bool
	// NeverRenews is a core whose timer is not armed, or one that was killed while its provider goes on.
	NeverRenews bool
	// IsHurried: renewals are made in a moment, whatever time the provider names.
	IsHurried bool
}

const hurry = 100 * time.Millisecond

// Walk is one walk of a core, with a provider process of its own.
type Walk struct {
	// End is the end of the provider's process, which the core brings about.
	End func()

	mode   Mode
	server tfprotov6.ProviderServer
	schema *tfprotov6.Schema
	// running ends with Ctrl-C
	running context.Context
	stop    context.CancelFunc

	mutex    sync.Mutex
	renewals []time.Time
	// diagnostics has the summary and the detail of each diagnostic, errors first by a "!".
	diagnostics []string
}

// Begin starts a walk with a configured provider.
func Begin(t testing.TB, mode Mode, configuration map[string]any) *Walk {
	t.Helper()
	ctx := context.Background()
	drawbridge := provider.New("dev")
	server := providerserver.NewProtocol6(drawbridge)()
	schemas, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	walk := &Walk{mode: mode, server: server, schema: schemas.EphemeralResourceSchemas[resourceType], End: drawbridge.Stop}
	walk.running, walk.stop = context.WithCancel(ctx)
	configured, err := server.ConfigureProvider(ctx, &tfprotov6.ConfigureProviderRequest{Config: valueOf(t, schemas.Provider, configuration)})
	if err != nil {
		t.Fatal(err)
	}
	walk.record(configured.Diagnostics)
	return walk
}

// Diagnostics are the diagnostics so far, one a line; those of errors begin with "!".
func (w *Walk) Diagnostics() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return strings.Join(w.diagnostics, "\n")
}

// Renewals are when the core has called Renew.
func (w *Walk) Renewals() []time.Time {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Clone(w.renewals)
}

func (w *Walk) record(given []*tfprotov6.Diagnostic) (isFailed bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, one := range given {
		mark := ""
		if one.Severity == tfprotov6.DiagnosticSeverityError {
			mark, isFailed = "!", true
		}
		w.diagnostics = append(w.diagnostics, fmt.Sprintf("%s%s %s: %s", mark, one.Attribute, one.Summary, one.Detail))
	}
	return isFailed
}

// Instance is an ephemeral resource that is open.
type Instance struct {
	Result  map[string]tftypes.Value
	RenewAt time.Time
	walk    *Walk
	private []byte
	renewed []byte
	done    chan struct{}
	ended   chan struct{}
}

// Text is an output; "" when it is null.
func (i *Instance) Text(t testing.TB, name string) (text string) {
	t.Helper()
	if value := i.Result[name]; !value.IsNull() {
		if err := value.As(&text); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// Validate returns whether the configuration is valid.
func (w *Walk) Validate(t testing.TB, configuration map[string]any) bool {
	t.Helper()
	answer, err := w.server.ValidateEphemeralResourceConfig(context.Background(),
		&tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: resourceType, Config: valueOf(t, w.schema, configuration)})
	if err != nil {
		t.Fatal(err)
	}
	return !w.record(answer.Diagnostics)
}

// Open validates and opens; nil when the core refuses what it gets. It is not closed then, as in a real core.
func (w *Walk) Open(t testing.TB, configuration map[string]any) *Instance {
	t.Helper()
	if !w.Validate(t, configuration) {
		return nil
	}
	config := valueOf(t, w.schema, configuration)
	answer, err := w.server.OpenEphemeralResource(context.Background(), &tfprotov6.OpenEphemeralResourceRequest{TypeName: resourceType, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if w.record(answer.Diagnostics) {
		return nil
	}
	given, result := attributesOf(t, w.schema, config), attributesOf(t, w.schema, answer.Result)
	for _, attribute := range w.schema.Block.Attributes {
		was, is := given[attribute.Name], result[attribute.Name]
		if !is.IsFullyKnown() || (!was.IsNull() || !attribute.Computed) && !is.Equal(was) {
			t.Errorf("the core refuses %s: it was %s, and is %s", attribute.Name, was, is)
			return nil
		}
	}
	instance := &Instance{Result: result, RenewAt: answer.RenewAt, walk: w, private: answer.Private, renewed: answer.Private, done: make(chan struct{}), ended: make(chan struct{})}
	go instance.renew(answer.RenewAt)
	return instance
}

// renew calls Renew at the times that the provider names; an error, or no time, ends that.
func (i *Instance) renew(at time.Time) {
	defer close(i.ended)
	for !at.IsZero() && !i.walk.mode.NeverRenews {
		pause := time.Until(at)
		if i.walk.mode.IsHurried {
			pause = hurry
		}
		select {
		case <-i.done:
			return
		case <-i.walk.running.Done():
			return
		case <-time.After(pause):
		}
		answer, err := i.walk.server.RenewEphemeralResource(context.Background(), &tfprotov6.RenewEphemeralResourceRequest{TypeName: resourceType, Private: i.renewed})
		if err != nil || i.walk.record(answer.Diagnostics) {
			return
		}
		i.walk.mutex.Lock()
		i.walk.renewals = append(i.walk.renewals, time.Now())
		if !bytes.Equal(answer.Private, i.private) {
			i.walk.diagnostics = append(i.walk.diagnostics, "!Renew has changed the private data")
		}
		i.walk.mutex.Unlock()
		i.renewed, at = answer.Private, answer.RenewAt
	}
}

// Close ends renewals and closes, as when the last dependent is done.
func (i *Instance) Close(t testing.TB) {
	t.Helper()
	close(i.done)
	<-i.ended
	ctx, private := context.Background(), i.private
	if i.walk.mode.IsOpenTofu {
		limited, cancel := context.WithTimeout(i.walk.running, closeLimit)
		defer cancel()
		ctx, private = limited, i.renewed
	}
	answer, err := i.walk.server.CloseEphemeralResource(ctx, &tfprotov6.CloseEphemeralResourceRequest{TypeName: resourceType, Private: private})
	if err != nil {
		t.Fatal(err)
	}
	if i.walk.record(answer.Diagnostics) {
		t.Error("a Close has failed the run")
	}
	if ctx.Err() != nil && i.walk.running.Err() == nil {
		t.Error("OpenTofu has given up the Close")
	}
}

// Cancel is Ctrl-C: renewals end, and the core asks the provider to stop.
func (w *Walk) Cancel(t testing.TB) {
	t.Helper()
	w.stop()
	if _, err := w.server.StopProvider(context.Background(), &tfprotov6.StopProviderRequest{}); err != nil {
		t.Fatal(err)
	}
}

func attributesOf(t testing.TB, schema *tfprotov6.Schema, value *tfprotov6.DynamicValue) map[string]tftypes.Value {
	t.Helper()
	object, err := value.Unmarshal(schema.ValueType())
	attributes := map[string]tftypes.Value{}
	if err == nil {
		err = object.As(&attributes)
	}
	if err != nil {
		t.Fatal(err)
	}
	return attributes
}

// valueOf encodes a configuration; what it leaves out is null.
func valueOf(t testing.TB, schema *tfprotov6.Schema, given map[string]any) *tfprotov6.DynamicValue {
	t.Helper()
	kind := schema.ValueType().(tftypes.Object)
	attributes := map[string]tftypes.Value{}
	for name, of := range kind.AttributeTypes {
		value := given[name]
		switch typed := value.(type) {
		case []string:
			texts := []tftypes.Value{}
			for _, text := range typed {
				texts = append(texts, tftypes.NewValue(tftypes.String, text))
			}
			value = texts
		case map[string]string:
			texts := map[string]tftypes.Value{}
			for key, text := range typed {
				texts[key] = tftypes.NewValue(tftypes.String, text)
			}
			value = texts
		}
		attributes[name] = tftypes.NewValue(of, value)
	}
	encoded, err := tfprotov6.NewDynamicValue(kind, tftypes.NewValue(kind, attributes))
	if err != nil {
		t.Fatal(err)
	}
	return &encoded
}
