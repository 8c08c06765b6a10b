import { readFile } from 'node:fs/promises';
import { refused } from '../call-failure';
import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { DriverError } from '../driver-error';
import { fingerprint } from '../fingerprint';
import { readOwnKeys, type AwsKeys } from './aws-credentials';
import { assumeWithToken } from './assume-role';
import type { SdkSettings } from './sdk-settings';

const VARIABLE = 'DRAWBRIDGE_AWS_IDENTITY';
const TIMEOUT_MS = 1000;
const SESSION_SECONDS = 3600;
const MAX_TOKEN_LENGTH = 20_000;

/** Temporary keys as AWS's credential providers return them. */
interface ProvidedKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** A setting is missing or wrong. */
class NotConfigured extends DriverError {
  constructor(what: string) {
    super('denied', `This deployment cannot assume roles: ${what}`);
  }
}

type Source = (environment: NodeJS.ProcessEnv, region: string) => Promise<IssuedToken<AwsKeys>>;

/**
 * The deployment's own identity, which assumes the tenants' roles. `DRAWBRIDGE_AWS_IDENTITY` names the only source of its
 * keys: no other one stands in when it fails.
 */
export class OwnIdentity {
  private readonly tokens = new TokenCache<AwsKeys>();
  private readonly sources: Readonly<Record<string, Source>> = {
    'token-file': (environment, region) => this.fromTokenFile(environment, region),
    container: fromContainer,
    instance: fromInstance,
  };

  constructor(
    private readonly environment: NodeJS.ProcessEnv,
    private readonly settings: SdkSettings,
    private readonly onFailure: (reason: Error) => void,
  ) {}

  /** Part of the cache key of sessions: another identity gets sessions of its own. @throws DriverError */
  get cacheKey(): string {
    const { kind } = this;
    if (kind !== 'keys') return kind;
    const { accessKeyId, secretAccessKey } = readOwnKeys(this.environment);
    return fingerprint(accessKeyId, secretAccessKey);
  }

  /** @throws DriverError `denied` when the identity is not configured, `transient` when its source does not respond */
  async keys(region: string): Promise<CallToken<AwsKeys>> {
    const { kind } = this;
    const source = this.sources[kind];
    const issue = (): Promise<IssuedToken<AwsKeys>> =>
      source
        ? source(this.environment, region).catch((error: unknown) => {
            throw this.ownFailure(error);
          })
        : // they expire when the variables change
          Promise.resolve({ token: readOwnKeys(this.environment), expiresAt: 0 });
    return this.tokens.take(fingerprint(kind, region), issue);
  }

  private get kind(): string {
    const kind = this.environment[VARIABLE] || 'keys';
    if (kind === 'keys' || Object.hasOwn(this.sources, kind)) return kind;
    const known = ['keys', ...Object.keys(this.sources)].join(', ');
    throw new NotConfigured(`${VARIABLE} must be one of ${known}`);
  }

  /** A token that Kubernetes renews in a file (IAM roles for service accounts). */
  private async fromTokenFile(environment: NodeJS.ProcessEnv, region: string): Promise<IssuedToken<AwsKeys>> {
    const path = required(environment, 'AWS_WEB_IDENTITY_TOKEN_FILE');
    const roleArn = required(environment, 'AWS_ROLE_ARN');
    const token = (await readFile(path, 'utf8')).trim();
    if (token === '' || token.length > MAX_TOKEN_LENGTH)
      throw new DriverError('denied', 'The file in AWS_WEB_IDENTITY_TOKEN_FILE holds no token');
    const assumption = { roleArn, seconds: SESSION_SECONDS, policy: null };
    return assumeWithToken(this.settings, region, assumption, token);
  }

  /** Says whose keys are missing, and no more: tenants read it. Nothing was sent to a target. */
  private ownFailure(error: unknown): DriverError {
    // a setting is named to tenants too, so that they can tell their operator
    if (error instanceof NotConfigured) return error;
    this.onFailure(error instanceof Error ? error : new Error(String(error)));
    const kind = error instanceof DriverError ? error.kind : 'transient';
    return refused(kind, 'This deployment got no keys of its own identity: its log tells the operator why');
  }
}

/** The role of an ECS task, or of a pod of EKS. The host is one of AWS's own, loopback, or reached by https. */
async function fromContainer(environment: NodeJS.ProcessEnv): Promise<IssuedToken<AwsKeys>> {
  const relative = environment['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'] ?? '';
  const full = relative ? '' : required(environment, 'AWS_CONTAINER_CREDENTIALS_FULL_URI');
  const file = environment['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'] ?? '';
  const { fromHttp } = await import('@aws-sdk/credential-provider-http');
  return issueKeys(async () =>
    fromHttp({
      awsContainerCredentialsRelativeUri: relative,
      awsContainerCredentialsFullUri: full,
      awsContainerAuthorizationTokenFile: file,
      awsContainerAuthorizationToken: file ? '' : (environment['AWS_CONTAINER_AUTHORIZATION_TOKEN'] ?? ''),
      timeout: TIMEOUT_MS,
      maxRetries: 0,
    })(),
  );
}

/**
 * The role of an EC2 instance (IMDSv2 only). The provider itself reads `AWS_EC2_METADATA_SERVICE_ENDPOINT` from the
 * process; a new one for each request, because one that has succeeded before answers with old keys.
 */
async function fromInstance(): Promise<IssuedToken<AwsKeys>> {
  const { fromInstanceMetadata } = await import('@smithy/credential-provider-imds');
  return issueKeys(fromInstanceMetadata({ timeout: TIMEOUT_MS, maxRetries: 0, ec2MetadataV1Disabled: true }));
}

async function issueKeys(provide: () => Promise<ProvidedKeys>): Promise<IssuedToken<AwsKeys>> {
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = await provide();
  if (!sessionToken || !expiration) throw new Error('The source of the keys returned no temporary ones');
  return { token: { accessKeyId, secretAccessKey, sessionToken }, expiresAt: expiration.getTime() };
}

function required(environment: NodeJS.ProcessEnv, name: string): string {
  const value = environment[name];
  if (value) return value;
  throw new NotConfigured(`${name} is not set`);
}
