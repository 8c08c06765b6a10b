import { until } from '../../harness/until';

/** Long outages are seconds in the usual run; `CHAOS_OUTAGE_SECONDS=600 npm run test:long -- …` gives them their full length. */
const OUTAGE_SECONDS = Number(process.env['CHAOS_OUTAGE_SECONDS'] ?? 3);

/** For the test's own time limit, ms. */
export const OUTAGE_MS = OUTAGE_SECONDS * 1000;

/** The outage goes on for as long as it is to. */
export async function outage(): Promise<void> {
  const ends = performance.now() + OUTAGE_MS;
  await until('the outage has lasted', () => Promise.resolve(performance.now() >= ends), OUTAGE_MS + 5000);
}
