import { createHash } from 'node:crypto';
import { DriverError } from '../driver-error';
import type { CloudTarget, DriverCredential } from '../provider-driver';
import { parseGuardedPath, VERCEL_FACTS, type GuardedPath } from './vercel.facts';

/** Who asks Vercel, and on behalf of which team. */
export interface VercelToken {
  readonly token: string;
  /** null: the personal account of the token's owner, or the one team that the token is good for */
  readonly teamId: string | null;
}

/**
 * The token that a tenant's credential holds. Nothing else is ever looked up for it.
 * @throws DriverError `denied` when it is missing or cannot be one
 */
export function readCredential({ credentialType, data }: DriverCredential): VercelToken {
  const shape = VERCEL_FACTS.credentialTypes[credentialType];
  if (!shape) throw new DriverError('denied', `A Vercel credential is TOKEN, not ${credentialType}`);
  const { token, teamId } = data;
  if (!token) throw new DriverError('denied', 'The credential has no token');
  // They become part of a header and of a URL.
  if (!shape.forms['token']!.pattern.test(token)) throw new DriverError('denied', 'The token is malformed');
  if (teamId && !shape.forms['teamId']!.pattern.test(teamId))
    throw new DriverError('denied', 'The credential’s teamId is malformed');
  return { token, teamId: teamId || null };
}

/** @throws DriverError `invalid` when the target is nothing that a guard can be for */
export function readGuardedPath({ resourceType, identifier }: CloudTarget): GuardedPath {
  if (!VERCEL_FACTS.resourceTypes[resourceType])
    throw new DriverError('invalid', `Vercel has no resources of type ${resourceType} here`);
  const place = parseGuardedPath(identifier);
  if (place) return place;
  throw new DriverError('invalid', `${identifier} is no id of a Vercel project`);
}

/** Whose calls are counted together: the team's, else the token's; gives no secret away. */
export const accountOf = ({ token, teamId }: VercelToken): string =>
  teamId ?? createHash('sha256').update(token).digest('base64url').slice(0, 22);
