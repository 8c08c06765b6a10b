import type { EC2ClientConfig } from '@aws-sdk/client-ec2';
import { egressAgents } from '../egress';
import type { AwsKeys } from './aws-credentials';
import { CLOCK_RETRY } from './clock-retry';

type SharedSettings = Pick<
  EC2ClientConfig,
  | 'region'
  | 'credentials'
  | 'credentialDefaultProvider'
  | 'endpoint'
  | 'maxAttempts'
  | 'retryMode'
  | 'retryStrategy'
  | 'authSchemePreference'
  | 'useDualstackEndpoint'
  | 'useFipsEndpoint'
  | 'userAgentAppId'
  | 'disableClockSkewCorrection'
  | 'requestHandler'
> & { readonly ignoreConfiguredEndpointUrls: true };

/**
 * Configuration of every SDK client. Sets each option that the SDK would otherwise read from the process environment,
 * shared configuration files or the instance metadata service.
 */
export class SdkSettings {
  /** @param callTimeoutMs timeout for connecting and for the response */
  constructor(
    private readonly environment: NodeJS.ProcessEnv,
    readonly callTimeoutMs: number,
  ) {
    // The SDK reads this one from process.env. Its releases of 2027 need Node 22, this one does not.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  }

  /**
   * @param endpointVariable environment variable that overrides AWS's endpoint
   * @param keys the only credentials that the client uses; null: its requests are not signed
   */
  clientConfig(
    endpointVariable: 'AWS_ENDPOINT_URL_EC2' | 'AWS_ENDPOINT_URL_STS',
    region: string,
    keys: AwsKeys | null,
  ): SharedSettings {
    const endpoint = this.environment[endpointVariable];
    return {
      region,
      ...(keys && { credentials: keys }),
      credentialDefaultProvider: () => () =>
        Promise.reject(new Error('No default credentials are ever used')),
      ...(endpoint && { endpoint }),
      ignoreConfiguredEndpointUrls: true,
      maxAttempts: 2,
      retryMode: 'standard',
      retryStrategy: CLOCK_RETRY,
      authSchemePreference: [],
      useDualstackEndpoint: false,
      useFipsEndpoint: false,
      userAgentAppId: 'drawbridge',
      disableClockSkewCorrection: false,
      requestHandler: {
        httpAgent: egressAgents().http,
        httpsAgent: egressAgents().https,
        connectionTimeout: this.callTimeoutMs,
        requestTimeout: this.callTimeoutMs,
        throwOnRequestTimeout: true,
        socketTimeout: this.callTimeoutMs,
      },
    };
  }

  /** Another endpoint than AWS's own; undefined: none. */
  endpoint(
    variable: 'AWS_ENDPOINT_URL_EKS' | 'AWS_ENDPOINT_URL_ORGANIZATIONS' | 'AWS_ENDPOINT_URL_WAFV2',
  ): string | undefined {
    return this.environment[variable] || undefined;
  }

  /** Timeout of one call, from its start to the last byte of the response. */
  deadline(): { abortSignal: AbortSignal } {
    return { abortSignal: AbortSignal.timeout(this.callTimeoutMs) };
  }
}
