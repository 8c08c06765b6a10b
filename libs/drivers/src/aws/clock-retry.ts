import type { EC2ClientConfig } from '@aws-sdk/client-ec2';

type RetryStrategy = Extract<
  Exclude<EC2ClientConfig['retryStrategy'], undefined>,
  { acquireInitialRetryToken: unknown }
>;

const retryToken = (count: number) => ({ getRetryCount: () => count, getRetryDelay: () => 0 });

/** Metadata of an error after which the SDK has corrected its clock. */
interface ClockCorrection {
  readonly $metadata?: { readonly clockSkewCorrected?: boolean; readonly httpStatusCode?: number };
}

/**
 * Retries only a request that AWS refused because of clock skew: AWS did nothing, and the SDK has corrected the time
 * from the response.
 */
export const CLOCK_RETRY: RetryStrategy = {
  acquireInitialRetryToken: () => Promise.resolve(retryToken(0)),
  refreshRetryTokenForRetry: (token, { error }) => {
    const { clockSkewCorrected = false, httpStatusCode = 500 } =
      (error as ClockCorrection | undefined)?.$metadata ?? {};
    // after a server error the outcome is unknown
    const hadNoEffect = clockSkewCorrected && httpStatusCode < 500;
    return hadNoEffect && token.getRetryCount() === 0
      ? Promise.resolve(retryToken(1))
      : Promise.reject(new Error('Not retryable'));
  },
  recordSuccess: () => undefined,
};
