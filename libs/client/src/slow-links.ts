import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/**
 * Longer than a connection takes over a satellite. Node.js gives each address of a name a quarter of a second, and goes on
 * to the next one for good: over a slow link, a name whose IPv6 address has no route is then never reached.
 */
const ADDRESS_TIMEOUT_MS = 2_000;

/** Makes every connection of this process wait for a slow link. */
export const waitForSlowLinks = (): void => setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_TIMEOUT_MS);
