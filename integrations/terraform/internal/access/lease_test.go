package access_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"terraform-provider-drawbridge/internal/coretest"
)

// asChild is set in a process that opens access, and is killed.
const asChild = "DRAWBRIDGE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) == "" {
		os.Exit(m.Run())
	}
	t := &testing.T{}
	p := running(t)
	walk := coretest.Begin(t, coretest.Mode{}, p.withKey())
	openAll(t, walk, addresses(30))
	fmt.Println("open" + walk.Diagnostics())
	time.Sleep(time.Hour)
}

// openAll opens access for each address, all at once: changes of a target are collected.
func openAll(t testing.TB, walk *coretest.Walk, addresses []string) {
	var all sync.WaitGroup
	for _, address := range addresses {
		all.Go(func() { walk.Open(t, access(address, "lease_seconds", 60)) })
	}
	all.Wait()
}

func addresses(from int) (all []string) {
	for at := range 20 {
		all = append(all, fmt.Sprintf("203.0.113.%d", from+at))
	}
	return all
}

// A killed run loses its access with the lease: with its provider, and with a provider that is left behind.
func TestAKilledRunLosesItsAccess(t *testing.T) {
	t.Parallel()
	p := running(t)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), asChild+"=1")
	output, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line := bufio.NewScanner(output)
	if !line.Scan() || line.Text() != "open" {
		t.Fatal("the child has not opened: " + line.Text())
	}
	left := coretest.Begin(t, coretest.Mode{NeverRenews: true}, p.withKey())
	openAll(t, left, addresses(50))
	killed := append(addresses(30), addresses(50)...)
	p.hasRules(t, 40, killed...)
	begun := time.Now()
	_ = child.Process.Kill()
	_ = child.Wait()
	p.hasRules(t, 0, killed...)
	t.Logf("40 of 40 closed %s after the kill, with leases of 60 s", time.Since(begun).Round(time.Second))
}

// Leases are renewed at a third of them, by a server that is away for half a lease; in each mode.
func TestALongRunKeepsItsAccess(t *testing.T) {
	t.Parallel()
	p := running(t)
	// longer than the lease would last that is not renewed after the server was away; with the variable, five leases
	length := 110
	if os.Getenv("DRAWBRIDGE_TEST_LONG") != "" {
		length = 5 * 60
	}
	for at, mode := range []coretest.Mode{{}, {IsOpenTofu: true}} {
		address := fmt.Sprintf("203.0.113.%d", 70+at)
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			way := p.through(t)
			walk := coretest.Begin(t, mode, map[string]any{"url": way.URL, "api_key": p.APIKey})
			instance := walk.Open(t, access(address, "lease_seconds", 60))
			if instance == nil {
				t.Fatal(walk.Diagnostics())
			}
			begun := time.Now()
			for second := 0; second < length; second++ {
				time.Sleep(time.Until(begun.Add(time.Duration(second) * time.Second)))
				fault := well
				if second >= 45 && second < 75 {
					fault = away
				}
				way.fails(fault)
				if count := p.rules(t, address); count != 1 {
					t.Fatalf("%d rules after %d s: %s", count, second, walk.Diagnostics())
				}
			}
			instance.Close(t)
			if shown := walk.Diagnostics(); shown != "" || len(walk.Renewals()) < length/20-2 {
				t.Errorf("%d renewals, %s", len(walk.Renewals()), shown)
			}
			p.hasRules(t, 0, address)
		})
	}
}

// A core that does not renew is named as the cause.
func TestACoreThatNeverRenewsIsNamed(t *testing.T) {
	t.Parallel()
	p := running(t)
	walk := coretest.Begin(t, coretest.Mode{NeverRenews: true}, p.withKey())
	instance := walk.Open(t, access("203.0.113.72", "lease_seconds", 60))
	if instance == nil {
		t.Fatal(walk.Diagnostics())
	}
	p.hasRules(t, 1, "203.0.113.72")
	p.hasRules(t, 0, "203.0.113.72")
	instance.Close(t)
	if shown := walk.Diagnostics(); shown == "" {
		t.Error("the cause is not named")
	} else {
		t.Log(shown)
	}
}

// What fails for a moment ends no renewals, and no renewal changes what Close gets.
func TestRenewalsGoOnAfterAFault(t *testing.T) {
	p := running(t)
	way := p.through(t)
	for _, fault := range []func(http.ResponseWriter, *http.Request) bool{unavailable, away} {
		walk := coretest.Begin(t, coretest.Mode{IsOpenTofu: true, IsHurried: true}, map[string]any{"url": way.URL, "api_key": p.APIKey})
		instance := walk.Open(t, access("203.0.113.73"))
		if instance == nil {
			t.Fatal(walk.Diagnostics())
		}
		if latest := time.Now().Add(600 * time.Second / 3); instance.RenewAt.After(latest) {
			t.Errorf("it is to be renewed at %s, a third of the lease is over at %s", instance.RenewAt, latest)
		}
		for _, one := range []func(http.ResponseWriter, *http.Request) bool{well, fault, well} {
			way.fails(one)
			before := len(walk.Renewals())
			until(t, "two more renewals are tried", func() bool { return len(walk.Renewals()) >= before+2 })
		}
		instance.Close(t)
		if shown := walk.Diagnostics(); shown != "" {
			t.Error(shown)
		}
		p.hasRules(t, 0, "203.0.113.73")
	}
}

// A cancelled run closes: in OpenTofu at once, with a context that has ended; Terraform closes nothing then, and ends the provider.
func TestACancelledRunCloses(t *testing.T) {
	p := running(t)
	for _, mode := range []coretest.Mode{{}, {IsOpenTofu: true}} {
		walk := coretest.Begin(t, mode, p.withKey())
		instance := walk.Open(t, access("203.0.113.74"))
		if instance == nil {
			t.Fatal(walk.Diagnostics())
		}
		walk.Cancel(t)
		if mode.IsOpenTofu {
			instance.Close(t)
		} else {
			walk.End()
		}
		p.hasRules(t, 0, "203.0.113.74")
	}
}
