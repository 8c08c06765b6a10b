import { credentialFields, requireResourceType } from '../credential-fields';
import { DriverError } from '../driver-error';
import type { CloudTarget, DriverCredential } from '../provider-driver';
import { parseGuardedPath, VERCEL_FACTS, type GuardedPath } from './vercel.facts';

/** The token for calls to Vercel, and the team they are made for. */
export interface VercelToken {
  readonly token: string;
  /** null: the personal account of the token's owner, or the only team of the token */
  readonly teamId: string | null;
}

/** @throws DriverError `denied` when it is unusable */
export function readCredential(credential: DriverCredential): VercelToken {
  const field = credentialFields(VERCEL_FACTS, credential);
  return { token: field('token'), teamId: field('teamId') || null };
}

/** @throws DriverError `invalid` when the target cannot be guarded */
export function readGuardedPath(target: CloudTarget): GuardedPath {
  requireResourceType(VERCEL_FACTS, target);
  const path = parseGuardedPath(target.identifier);
  if (path) return path;
  throw new DriverError('invalid', `${target.identifier} is no id of a Vercel project`);
}
