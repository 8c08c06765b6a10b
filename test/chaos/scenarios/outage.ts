import { setTimeout as pause } from 'node:timers/promises';

/** Short by default; `CHAOS_OUTAGE_SECONDS=600 npm run test:long -- …` runs the full length. */
const OUTAGE_SECONDS = Number(process.env['CHAOS_OUTAGE_SECONDS'] ?? 3);

/** ms */
const OUTAGE_MS = OUTAGE_SECONDS * 1000;

/** Waits for the length of the outage: that is the fault, not a condition. */
export const outage = (lengthMs = OUTAGE_MS): Promise<void> => pause(lengthMs);
