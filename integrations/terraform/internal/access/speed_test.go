package access_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"terraform-provider-drawbridge/internal/coretest"
)

// BenchmarkOpen measures from Open to its end, when the rule is in the simulated cloud, on one target: by one run after the
// other, and by twenty at once.
//
//	npm run test:terraform -- go test -run '^$' -bench Open -benchtime 20x ./internal/access
func BenchmarkOpen(b *testing.B) {
	p := running(b)
	for _, atOnce := range []bool{false, true} {
		b.Run(fmt.Sprintf("atOnce=%t", atOnce), func(b *testing.B) {
			took := make([]time.Duration, b.N)
			var all sync.WaitGroup
			for at := range took {
				run := func() {
					address := fmt.Sprintf("203.0.113.%d", 200+at)
					walk := coretest.Begin(b, coretest.Mode{}, p.withKey())
					begun := time.Now()
					instance := walk.Open(b, access(address))
					took[at] = time.Since(begun)
					if instance == nil || p.rules(b, address) != 1 {
						b.Error(walk.Diagnostics())
						return
					}
					instance.Close(b)
				}
				if all.Go(run); !atOnce {
					all.Wait()
				}
			}
			all.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "ms-median")
			b.ReportMetric(float64(took[len(took)-1].Milliseconds()), "ms-max")
		})
	}
}
