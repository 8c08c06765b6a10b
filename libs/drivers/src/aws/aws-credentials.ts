import { createHash } from 'node:crypto';
import { DriverError } from '../driver-error';
import type { CloudTarget, DriverCredential } from '../provider-driver';
import { AWS_FACTS } from './aws.facts';

/** Keys that sign a request. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A role of the tenant's account, and what proves to it for whom it is assumed. */
export interface AssumableRole {
  readonly roleArn: string;
  readonly externalId: string;
}

/** The deployment's own identity, which assumes the tenants' roles. */
const OWN_KEY_ID = 'DRAWBRIDGE_AWS_ACCESS_KEY_ID';
const OWN_SECRET = 'DRAWBRIDGE_AWS_SECRET_ACCESS_KEY';

/** The non-secret name of who signs: an access key id or a role. */
export function identityOf({ data }: DriverCredential): string {
  return data.roleArn ?? data.accessKeyId ?? '';
}

/**
 * The keys or the role that a tenant's credential holds. Nothing else is ever looked up for it.
 * @throws DriverError `denied` when a field is missing
 */
export function readCredential({
  credentialType,
  data,
  externalId,
}: DriverCredential): AwsKeys | AssumableRole {
  if (credentialType === 'ACCESS_KEY') {
    const accessKeyId = field(data, 'accessKeyId');
    const secretAccessKey = field(data, 'secretAccessKey');
    return { accessKeyId, secretAccessKey, ...(data.sessionToken && { sessionToken: data.sessionToken }) };
  }
  if (credentialType === 'ASSUME_ROLE') {
    const roleArn = field(data, 'roleArn');
    // Without it the role could not tell which tenant asks: another tenant could name the same role.
    if (!externalId) throw new DriverError('denied', 'The credential has no external id');
    return { roleArn, externalId };
  }
  throw new DriverError('denied', `An AWS credential is ACCESS_KEY or ASSUME_ROLE, not ${credentialType}`);
}

/**
 * The deployment's own keys, from variables of their own, so that no instance role stands in for them.
 * @throws DriverError `denied` naming the variables when one is not set
 */
export function readOwnKeys(environment: NodeJS.ProcessEnv): AwsKeys {
  const accessKeyId = environment[OWN_KEY_ID];
  const secretAccessKey = environment[OWN_SECRET];
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey };
  throw new DriverError(
    'denied',
    `This deployment cannot assume roles: ${OWN_KEY_ID} and ${OWN_SECRET} are not set`,
  );
}

/** @throws DriverError `invalid` when the text is no region: it becomes part of a host name */
export function readRegion({ region }: CloudTarget): string {
  if (region !== null && AWS_FACTS.region?.pattern.test(region)) return region;
  throw new DriverError(
    'invalid',
    region === null ? 'A resource of AWS needs a region' : `${region} is no AWS region`,
  );
}

/** A cache key that changes with every part and gives none of them away. */
export function fingerprint(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

function field(data: Readonly<Record<string, string>>, name: string): string {
  const value = data[name];
  if (value) return value;
  throw new DriverError('denied', `The credential has no ${name}`);
}
