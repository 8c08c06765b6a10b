import { until } from '../../harness/until';

/** Short by default; `CHAOS_OUTAGE_SECONDS=600 npm run test:long -- …` runs the full length. */
const OUTAGE_SECONDS = Number(process.env['CHAOS_OUTAGE_SECONDS'] ?? 3);

/** For the timeout of the test, ms. */
export const OUTAGE_MS = OUTAGE_SECONDS * 1000;

/** Waits for the length of the outage. */
export async function outage(): Promise<void> {
  const ends = performance.now() + OUTAGE_MS;
  await until('the outage has lasted', () => Promise.resolve(performance.now() >= ends), OUTAGE_MS + 5000);
}
