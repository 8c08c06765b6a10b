package access_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"terraform-provider-drawbridge/internal/coretest"
)

func TestAccessIsOpenFromOpenToClose(t *testing.T) {
	p := running(t)
	for _, mode := range []coretest.Mode{{}, {IsOpenTofu: true}} {
		for range 2 {
			walk := coretest.Begin(t, mode, p.withKey())
			instance := walk.Open(t, access("203.0.113.1", "reason", "a test"))
			if instance == nil {
				t.Fatal(walk.Diagnostics())
			}
			if count := p.rules(t, "203.0.113.1"); count != 1 {
				t.Fatalf("%d rules while it is open", count)
			}
			instance.Close(t)
			if count := p.rules(t, "203.0.113.1"); count != 0 {
				t.Fatalf("%d rules after Close", count)
			}
			if shown := walk.Diagnostics(); shown != "" {
				t.Error(shown)
			}
		}
	}
}

func TestOutputs(t *testing.T) {
	p := running(t)
	walk := coretest.Begin(t, coretest.Mode{}, p.withKey())
	instance := walk.Open(t, map[string]any{"resources": []string{open}})
	if instance == nil {
		t.Fatal(walk.Diagnostics())
	}
	defer instance.Close(t)
	if host, endpoint := instance.Text(t, "host"), instance.Text(t, "endpoint"); host != "db.example.com" || endpoint != "db.example.com:5432" {
		t.Errorf("host %s, endpoint %s", host, endpoint)
	}
	if addresses := instance.Result["addresses"].String(); !strings.Contains(addresses, "127.0.0.1") {
		t.Errorf("the address is not the detected one: %s", addresses)
	}
	for name, value := range instance.Result {
		for _, secret := range []string{p.APIKey, "dbs_", "eyJ"} {
			if strings.Contains(value.String(), secret) {
				t.Errorf("%s has a secret", name)
			}
		}
	}
	session := p.session(t, instance.Text(t, "session_id"))
	if !strings.HasPrefix(session.Holder, "tf:") || session.Reason == "" {
		t.Errorf("the record does not say which run it is: %+v", session)
	}
	given := map[string]any{"resources": []string{"RESOURCE-0"}, "ipv4_address": "203.0.113.2", "endpoints": map[string]string{"RESOURCE-0": "[2001:db8::1]:22"}}
	second := walk.Open(t, given)
	if second == nil {
		t.Fatal(walk.Diagnostics())
	}
	defer second.Close(t)
	if host := second.Text(t, "host"); host != "2001:db8::1" {
		t.Errorf("host %s", host)
	}
}

func TestNothingIsOpened(t *testing.T) {
	p := running(t)
	const address = "203.0.113.3"
	page := httptest.NewServer(http.NotFoundHandler())
	defer page.Close()
	for _, one := range []struct {
		name          string
		provider      map[string]any
		configuration map[string]any
		shown         string
	}{
		{"disabled", p.withKey(), access(address, "enabled", false), ""},
		{"an argument that is not known yet", p.withKey(), access(address, "reason", tftypes.UnknownValue), "not known yet"},
		{"a server that is not known yet", map[string]any{"url": tftypes.UnknownValue}, access(address), "not known yet"},
		{"a range", p.withKey(), access(address, "lease_seconds", 59), "lease_seconds must be from 60 to 3600"},
		{"no resource", p.withKey(), access(address, "resources", []string{}), "1 to 100"},
		{"an endpoint without a port", p.withKey(), access(address, "endpoints", map[string]string{open: "db"}), "db.example.com:5432"},
		{"an endpoint of something else", p.withKey(), access(address, "endpoints", map[string]string{"x": "db:1"}), "x is none"},
		{"an unknown resource", p.withKey(), access(address, "resources", []string{"nowhere"}), "nowhere"},
		{"a token that is over", map[string]any{"url": p.URL, "access_token": "x"}, access(address), "`drawbridge token` prints a new one"},
		{"an invalid address", p.withKey(), access("300.0.0.1"), `AttributeName("ipv4_address")`},
		{"an unknown key", map[string]any{"url": p.URL, "api_key": "dbk_unknown"}, access(address), "Drawbridge refused api_key"},
		{"a server of something else", map[string]any{"url": page.URL, "api_key": "k"}, access(address), "not as Drawbridge does"},
	} {
		t.Run(one.name, func(t *testing.T) {
			walk := coretest.Begin(t, coretest.Mode{}, one.provider)
			instance := walk.Open(t, one.configuration)
			if instance != nil {
				instance.Close(t)
			}
			if shown := walk.Diagnostics(); !strings.Contains(shown, one.shown) || one.shown == "" && shown != "" {
				t.Errorf("%q is not in: %s", one.shown, shown)
			}
		})
	}
	if count := p.rules(t, address); count != 0 {
		t.Errorf("%d rules", count)
	}
}

func TestWhatCannotBeAppliedIsClosed(t *testing.T) {
	p := running(t)
	const address = "203.0.113.4"
	fault := map[string]any{"provider": "AWS", "kind": "refuse", "operation": "AuthorizeSecurityGroupIngress", "target": p.OtherTarget, "seconds": 60}
	ask[any](t, http.MethodPost, p.Simulator+"/_faults", "", fault)
	t.Cleanup(func() { ask[any](t, http.MethodDelete, p.Simulator+"/_faults", "", nil) })
	for _, one := range []struct {
		resources []string
		further   []any
		isOpen    bool
	}{
		{[]string{other}, nil, false},
		{[]string{open, other}, nil, false},
		{[]string{open, other}, []any{"allow_partial", true}, true},
	} {
		walk := coretest.Begin(t, coretest.Mode{}, p.withKey())
		instance := walk.Open(t, access(address, append(one.further, "resources", one.resources, "wait_seconds", 20)...))
		if shown := walk.Diagnostics(); (instance != nil) != one.isOpen || !strings.Contains(shown, other+": ") {
			t.Errorf("%v: %s", one, shown)
		}
		if instance != nil {
			instance.Close(t)
		}
		p.hasRules(t, 0, address)
	}
}

func TestAPortThatAcceptsNothingIsClosed(t *testing.T) {
	p := running(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	walk := coretest.Begin(t, coretest.Mode{}, p.withKey())
	at := map[string]string{open: listener.Addr().String()}
	instance := walk.Open(t, access("203.0.113.5", "probe", true, "endpoints", at))
	if instance == nil {
		t.Fatal(walk.Diagnostics())
	}
	instance.Close(t)
	// cancelled while it waits
	opened := make(chan *coretest.Instance)
	go func() {
		opened <- walk.Open(t, access("203.0.113.6", "probe", true, "endpoints", map[string]string{open: "127.0.0.1:1"}))
	}()
	p.hasRules(t, 1, "203.0.113.6")
	walk.Cancel(t)
	if <-opened != nil {
		t.Error("it was opened")
	}
	p.hasRules(t, 0, "203.0.113.6")
}

func TestAnEndBeforeCloseIsExplained(t *testing.T) {
	p := running(t)
	walk := coretest.Begin(t, coretest.Mode{}, p.withKey())
	instance := walk.Open(t, access("203.0.113.7"))
	if instance == nil {
		t.Fatal(walk.Diagnostics())
	}
	admin[any](t, p, http.MethodPost, "/sessions/admin/"+instance.Text(t, "session_id")+"/stop", nil)
	p.hasRules(t, 0, "203.0.113.7")
	instance.Close(t)
	if shown := walk.Diagnostics(); !strings.Contains(shown, "ended before the run was done") {
		t.Error(shown)
	}
}

func TestAServerThatIsAwayFailsNoClose(t *testing.T) {
	p := running(t)
	way := p.through(t)
	walk := coretest.Begin(t, coretest.Mode{IsOpenTofu: true}, map[string]any{"url": way.URL, "api_key": p.APIKey})
	instance := walk.Open(t, access("203.0.113.8", "lease_seconds", 60))
	if instance == nil {
		t.Fatal(walk.Diagnostics())
	}
	way.fails(away)
	instance.Close(t)
	if shown := walk.Diagnostics(); !strings.Contains(shown, "not known whether the access was stopped") {
		t.Error(shown)
	}
	way.fails(well)
}

func TestTwentyWalksBehindOneAddress(t *testing.T) {
	p := running(t)
	const address = "203.0.113.9"
	walks := make(chan *coretest.Instance)
	for range 20 {
		go func() { walks <- coretest.Begin(t, coretest.Mode{}, p.withKey()).Open(t, access(address)) }()
	}
	all := []*coretest.Instance{}
	for range 20 {
		all = append(all, <-walks)
	}
	for at, instance := range all {
		if instance == nil {
			t.Fatal("a walk is not open")
		}
		if count := p.rules(t, address); count != 1 {
			t.Fatalf("%d rules while %d walks are open", count, len(all)-at)
		}
		instance.Close(t)
	}
	p.hasRules(t, 0, address)
}
