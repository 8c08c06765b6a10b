import type { EC2ClientConfig } from '@aws-sdk/client-ec2';

type RetryStrategy = Extract<
  Exclude<EC2ClientConfig['retryStrategy'], undefined>,
  { acquireInitialRetryToken: unknown }
>;

const tried = (times: number) => ({ getRetryCount: () => times, getRetryDelay: () => 0 });

/** What the SDK notes on an error after which it signs by another time. */
interface Corrected {
  readonly $metadata?: { readonly clockSkewCorrected?: boolean; readonly httpStatusCode?: number };
}

/**
 * Sends nothing twice, but for one case: AWS did nothing because our clock is wrong, and the SDK has just learnt the
 * right time from its answer.
 */
export const CLOCK_RETRY: RetryStrategy = {
  acquireInitialRetryToken: () => Promise.resolve(tried(0)),
  refreshRetryTokenForRetry: (token, { error }) => {
    const { clockSkewCorrected = false, httpStatusCode = 500 } =
      (error as Corrected | undefined)?.$metadata ?? {};
    // after a server's own failure nobody knows what it did
    const undone = clockSkewCorrected && httpStatusCode < 500;
    return undone && token.getRetryCount() === 0
      ? Promise.resolve(tried(1))
      : Promise.reject(new Error('Nothing is sent twice'));
  },
  recordSuccess: () => undefined,
};
