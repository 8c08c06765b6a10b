import { CallFailure } from '../call-failure';
import type { IssuedToken } from '../call-tokens';
import type { AwsKeys } from './aws-credentials';
import { toFailure, unexpectedResponse } from './aws-errors';
import type { SdkSettings } from './sdk-settings';

const SESSION_NAME = 'drawbridge';

/** A session of a role. */
export interface Assumption {
  readonly roleArn: string;
  readonly seconds: number;
  /** limits the session further than the role; null: it may do what the role may */
  readonly policy: string | null;
}

/**
 * Assumes a role with keys.
 * @param externalId of the organization; undefined: without one
 * @throws CallFailure
 */
export async function assumeWithKeys(
  settings: SdkSettings,
  region: string,
  assumption: Assumption,
  { keys, externalId }: { readonly keys: AwsKeys; readonly externalId: string | undefined },
): Promise<IssuedToken<AwsKeys>> {
  const { STSClient, AssumeRoleCommand } = await import('@aws-sdk/client-sts');
  const client = new STSClient(settings.clientConfig('AWS_ENDPOINT_URL_STS', region, keys));
  const command = new AssumeRoleCommand({
    ...requestOf(assumption),
    ...(externalId !== undefined && { ExternalId: externalId }),
  });
  const response = await client.send(command, settings.deadline()).catch((error: unknown) => {
    throw toFailure(error, [keys.secretAccessKey, keys.sessionToken ?? '']);
  });
  return issuedKeys(response, 'AssumeRole');
}

/** Assumes a role with a token of an issuer that it trusts. Not signed: the token is the proof. @throws CallFailure */
export async function assumeWithToken(
  settings: SdkSettings,
  region: string,
  assumption: Assumption,
  token: string,
): Promise<IssuedToken<AwsKeys>> {
  const { STSClient, AssumeRoleWithWebIdentityCommand } = await import('@aws-sdk/client-sts');
  const client = new STSClient(settings.clientConfig('AWS_ENDPOINT_URL_STS', region, null));
  const command = new AssumeRoleWithWebIdentityCommand({ ...requestOf(assumption), WebIdentityToken: token });
  const response = await client.send(command, settings.deadline()).catch((error: unknown) => {
    throw asIssuerFailure(toFailure(error, [token]));
  });
  return issuedKeys(response, 'AssumeRoleWithWebIdentity');
}

/** AWS reports an issuer that it cannot reach also as an invalid token: the trust itself is not refused then. */
function asIssuerFailure(failure: CallFailure): CallFailure {
  const { code, message } = failure;
  const isToken = code === 'InvalidIdentityToken' || code === 'InvalidIdentityTokenException';
  if (!isToken || !message.includes('retrieve verification key')) return failure;
  return new CallFailure('transient', message, code, true);
}

const requestOf = ({ roleArn, seconds, policy }: Assumption) => ({
  RoleArn: roleArn,
  RoleSessionName: SESSION_NAME,
  DurationSeconds: seconds,
  ...(policy !== null && { Policy: policy }),
});

interface IssuedCredentials {
  readonly AccessKeyId?: string | undefined;
  readonly SecretAccessKey?: string | undefined;
  readonly SessionToken?: string | undefined;
  readonly Expiration?: Date | undefined;
}

function issuedKeys(
  { Credentials }: { readonly Credentials?: IssuedCredentials | undefined },
  operation: string,
): IssuedToken<AwsKeys> {
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {};
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration) throw unexpectedResponse(operation);
  const token = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
  return { token, expiresAt: Expiration.getTime() };
}
