import StripeClient from 'stripe';
import type Stripe from 'stripe';
import { egressAgents } from '#drivers';

/** Both attempts together stay below the transaction timeout. */
const ANSWER_TIMEOUT_MS = 5000;
const RETRIES = 1;

export const { errors: stripeErrors } = StripeClient;

/** @param url of Stripe's API; undefined: Stripe's default */
export function stripeClient(secretKey: string, url: string | undefined): Stripe {
  return new StripeClient(secretKey, {
    timeout: ANSWER_TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    httpAgent: egressAgents()[url?.startsWith('http:') ? 'http' : 'https'],
    ...(url !== undefined && endpointOf(url)),
  });
}

function endpointOf(url: string): { host: string; port?: string; protocol: 'http' | 'https' } {
  const { protocol, hostname, port } = new URL(url);
  return { host: hostname, ...(port !== '' && { port }), protocol: protocol === 'http:' ? 'http' : 'https' };
}
