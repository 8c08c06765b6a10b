import { credentialFields } from '../credential-fields';
import { DriverError } from '../driver-error';
import { requireIdentity, type IdentityTokens } from '../identity-tokens';
import type { CloudTarget, DriverCredential } from '../provider-driver';
import { ANY_ACCOUNT, AWS_FACTS, REGION } from './aws.facts';

/** Keys that sign requests. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A role of the tenant's account, and the external id that identifies the organization to it. */
export interface AssumableRole {
  readonly roleArn: string;
  readonly externalId: string;
}

/** A role of the tenant's account that trusts the organization's issuer. */
export interface FederatedRole {
  readonly roleArn: string;
  readonly identity: IdentityTokens;
}

/** Environment variables with the deployment's own keys, which assume the tenants' roles. */
const OWN_KEY_ID = 'DRAWBRIDGE_AWS_ACCESS_KEY_ID';
const OWN_SECRET = 'DRAWBRIDGE_AWS_SECRET_ACCESS_KEY';

/** Reads the keys or the role of a tenant's credential. @throws DriverError `denied` when it is unusable */
export function readCredential(credential: DriverCredential): AwsKeys | AssumableRole | FederatedRole {
  const { credentialType, externalId, identity } = credential;
  const field = credentialFields(AWS_FACTS, credential);
  if (credentialType === 'ACCESS_KEY') {
    const sessionToken = field('sessionToken');
    const keys = { accessKeyId: field('accessKeyId'), secretAccessKey: field('secretAccessKey') };
    return { ...keys, ...(sessionToken && { sessionToken }) };
  }
  const roleArn = field('roleArn');
  if (roleArn.includes(ANY_ACCOUNT))
    throw new DriverError('denied', 'The credential is for many AWS accounts: the resource names none');
  if (credentialType === 'WEB_IDENTITY') return { roleArn, identity: requireIdentity(identity) };
  // Without it another tenant could use the role by naming it (confused deputy).
  if (!externalId) throw new DriverError('denied', 'The credential has no external id');
  return { roleArn, externalId };
}

/**
 * Reads the deployment's own keys from dedicated variables, so that no instance role is used instead.
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

/** @throws DriverError `invalid` when the region is malformed: it becomes part of a host name */
export function readRegion({ region }: CloudTarget): string {
  if (region !== null && REGION.pattern.test(region)) return region;
  throw new DriverError(
    'invalid',
    region === null ? 'A resource of AWS needs a region' : `${region} is no AWS region`,
  );
}
