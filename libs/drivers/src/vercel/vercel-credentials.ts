import { createHash } from 'node:crypto';
import { DriverError } from '../driver-error';
import type { CloudTarget, DriverCredential } from '../provider-driver';
import { parseGuardedPath, VERCEL_FACTS, type GuardedPath } from './vercel.facts';

/** The token for calls to Vercel, and the team they are made for. */
export interface VercelToken {
  readonly token: string;
  /** null: the personal account of the token's owner, or the only team of the token */
  readonly teamId: string | null;
}

/**
 * Reads the token of a tenant's credential. Uses no other source.
 * @throws DriverError `denied` when it is missing or malformed
 */
export function readCredential({ credentialType, data }: DriverCredential): VercelToken {
  const shape = VERCEL_FACTS.credentialTypes[credentialType];
  if (!shape) throw new DriverError('denied', `A Vercel credential is TOKEN, not ${credentialType}`);
  const { token, teamId } = data;
  if (!token) throw new DriverError('denied', 'The credential has no token');
  // They become part of a header and of a URL.
  if (!shape.forms['token']!.pattern.test(token)) throw new DriverError('denied', 'The token is malformed');
  if (teamId && !shape.forms['teamId']!.pattern.test(teamId))
    throw new DriverError('denied', 'The credential’s teamId is no id of a team (team_…)');
  return { token, teamId: teamId || null };
}

/** @throws DriverError `invalid` when the target cannot be guarded */
export function readGuardedPath({ resourceType, identifier }: CloudTarget): GuardedPath {
  if (!VERCEL_FACTS.resourceTypes[resourceType])
    throw new DriverError('invalid', `Vercel has no resources of type ${resourceType} here`);
  const path = parseGuardedPath(identifier);
  if (path) return path;
  throw new DriverError('invalid', `${identifier} is no id of a Vercel project`);
}

/** The account that rate limits apply to: the team, else a hash of the token. */
export const accountOf = ({ token, teamId }: VercelToken): string =>
  teamId ?? createHash('sha256').update(token).digest('base64url').slice(0, 22);
