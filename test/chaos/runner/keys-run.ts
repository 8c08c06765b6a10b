import { Watch } from '../oracles/watch';
import { Testbed } from './testbed';
import type { Outcome, RunOptions } from './chaos-run';
import { Random } from './random';
import { Tenant } from './tenant';

const LANES = 8;
const IDLE_TIMEOUT_MS = 300_000;
const REPORT_INTERVAL = 200;

/**
 * Starts sessions with Idempotency-Keys while the client aborts requests, and retries until each key is answered.
 * @param requests minimum number of requests
 * @throws Error when a key has two sessions, or another guarantee is violated
 */
export async function keysRun(options: RunOptions, requests: number): Promise<Outcome> {
  const began = performance.now();
  const random = new Random(options.seed);
  const testbed = await Testbed.start(options.redis, options.latencyMs);
  try {
    let watch: Watch | null = null;
    const tenant = await Tenant.register(testbed, 1, () => watch!, random);
    watch = await Watch.begin(testbed, { patienceMs: 0 });
    const window = watch.fault('the client aborts requests');
    let started = 0;
    const lane = async (): Promise<void> => {
      while (tenant.requests < requests) {
        started += 1;
        await tenant.startKeyed(`5.${(started >> 16) & 255}.${(started >> 8) & 255}.${started & 255}`);
        await tenant.end();
        if (started % REPORT_INTERVAL === 0) options.log(`${started} keys, ${tenant.requests} requests`);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    window.end();
    await testbed.expireSessions();
    await watch.verify({ withinMs: IDLE_TIMEOUT_MS });
    const evidence = await watch.evidence(true);
    return {
      injected: [],
      evidence,
      requests: tenant.requests,
      minutes: (performance.now() - began) / 60_000,
    };
  } finally {
    await testbed.stop();
  }
}
