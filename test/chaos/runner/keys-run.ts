import { Watch } from '../oracles/watch';
import { Bed } from './bed';
import type { Outcome, RunOptions } from './chaos-run';
import { Random } from './random';
import { Tenant } from './tenant';

const LANES = 8;
const QUIET_TIMEOUT_MS = 300_000;
const REPORT_INTERVAL = 200;

/**
 * Sessions are started under Idempotency-Keys over connections that are hung up on, again and again, until each key is
 * answered.
 * @param requests how many requests at least
 * @throws Error when a key stands for two sessions, or another promise is broken
 */
export async function keysRun(options: RunOptions, requests: number): Promise<Outcome> {
  const began = performance.now();
  const random = new Random(options.seed);
  const bed = await Bed.start(options.redis, options.latencyMs);
  try {
    let watch: Watch | null = null;
    const tenant = await Tenant.register(bed, 1, () => watch!, random);
    watch = await Watch.begin(bed);
    const window = watch.fault('connections are hung up on');
    let started = 0;
    const lane = async (): Promise<void> => {
      while (tenant.requests < requests) {
        started += 1;
        await tenant.startKeyed(`5.${(started >> 16) & 255}.${(started >> 8) & 255}.${started & 255}`);
        await tenant.end();
        if (started % REPORT_INTERVAL === 0) options.say(`${started} keys, ${tenant.requests} requests`);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    window.end();
    await bed.query(
      `UPDATE sessions SET expires_at = now() WHERE status IN ('PENDING', 'ACTIVE', 'PARTIAL')`,
    );
    await watch.holds({ withinMs: QUIET_TIMEOUT_MS });
    const evidence = await watch.evidence(true);
    return { strikes: [], evidence, deeds: tenant.requests, minutes: (performance.now() - began) / 60_000 };
  } finally {
    await bed.stop();
  }
}
