import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IssuedTokens } from '../issued-tokens';
import { parsePolicy, type SessionPolicy } from './session-policy';

export const ACCOUNT_ID = '123456789012';
export const ROLE_ARN = `arn:aws:iam::${ACCOUNT_ID}:role/simulated`;
/** Trusts the issuers that the control interface names. */
export const FEDERATED_ROLE_ARN = `arn:aws:iam::${ACCOUNT_ID}:role/federated`;

interface UserKey {
  readonly secret: string;
  /** keys are valid in the regions of their partition only */
  readonly partition: string;
}

/** The simulated user's keys: one in use, one to rotate to, and one of each other partition. */
const KEYS: Readonly<Record<string, UserKey>> = {
  AKIASIMULATED0000001: { secret: 'simulated-secret-access-key', partition: 'aws' },
  AKIASIMULATED0000002: { secret: 'simulated-second-secret-access-key', partition: 'aws' },
  AKIASIMULATEDCN00001: { secret: 'simulated-secret-access-key', partition: 'aws-cn' },
  AKIASIMULATEDGOV0001: { secret: 'simulated-secret-access-key', partition: 'aws-us-gov' },
  AKIASIMULATEDEUSC001: { secret: 'simulated-secret-access-key', partition: 'aws-eusc' },
};

/** Partitions by the beginning of their regions. */
const PARTITIONS: Readonly<Record<string, string>> = {
  'cn-': 'aws-cn',
  'us-gov-': 'aws-us-gov',
  'eusc-': 'aws-eusc',
  'us-iso-': 'aws-iso',
  'us-isob-': 'aws-iso-b',
  'eu-isoe-': 'aws-iso-e',
  'us-isof-': 'aws-iso-f',
};

const partitionOf = (region: string): string =>
  Object.entries(PARTITIONS).find(([start]) => region.startsWith(start))?.[1] ?? 'aws';
/** A constant key, so that session tokens stay valid across restarts of the simulator. */
const SESSION_SIGNING_KEY = 'simulated-session-signing-key';

/** The principal of a request. */
export interface Caller {
  readonly arn: string;
  readonly userId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  /** of a role's session that was limited; null: it is not */
  readonly policy: SessionPolicy | null;
}

export interface SessionCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: Date;
}

export type CallerLookup = Caller | 'unknown' | 'expired';

/** Finds the caller of a key id; temporary keys (`ASIA…`) are valid only with their session token. */
export function findCaller(
  accessKeyId: string,
  region: string,
  sessionToken: string | undefined,
  issued: IssuedTokens,
): CallerLookup {
  const key = KEYS[accessKeyId];
  if (key && key.partition !== partitionOf(region)) return 'unknown';
  if (key && sessionToken === undefined) {
    return {
      arn: `arn:aws:iam::${ACCOUNT_ID}:user/simulated`,
      userId: 'AIDASIMULATED0000001',
      secretAccessKey: key.secret,
      sessionToken: undefined,
      policy: null,
    };
  }
  const session = sessionToken === undefined ? null : readToken(sessionToken);
  if (session?.accessKeyId !== accessKeyId) return 'unknown';
  if (session.expiresAt <= Date.now() || issued.isRevoked(session.issuedAt)) return 'expired';
  return {
    arn: assumedRoleArn(session.name),
    userId: assumedRoleId(session.name),
    secretAccessKey: secretOf(accessKeyId),
    sessionToken,
    policy: session.policy,
  };
}

/** Issues temporary credentials of the simulated role. */
export function issueSession(
  name: string,
  durationSeconds: number,
  issuedAt: number,
  policy: SessionPolicy | null = null,
): SessionCredentials {
  const accessKeyId = `ASIA${randomBytes(8).toString('hex').toUpperCase()}`;
  const expiresAt = Math.floor(Date.now() / 1000 + durationSeconds) * 1000;
  const limits = policy ? Buffer.from(JSON.stringify(policy)).toString('base64url') : '';
  const text = `${accessKeyId} ${name} ${expiresAt} ${issuedAt} ${limits}`;
  const claims = Buffer.from(text).toString('base64url');
  return {
    accessKeyId,
    secretAccessKey: secretOf(accessKeyId),
    sessionToken: `${claims}.${hmac(claims)}`,
    expiration: new Date(expiresAt),
  };
}

export const assumedRoleArn = (name: string): string =>
  `arn:aws:sts::${ACCOUNT_ID}:assumed-role/simulated/${name}`;

export const assumedRoleId = (name: string): string => `AROASIMULATED0000001:${name}`;

interface SessionClaims {
  readonly accessKeyId: string;
  readonly name: string;
  /** milliseconds since 1970 */
  readonly expiresAt: number;
  /** stamp of `IssuedTokens` */
  readonly issuedAt: number;
  readonly policy: SessionPolicy | null;
}

function readToken(token: string): SessionClaims | null {
  const [claims = '', seal = ''] = token.split('.');
  const expected = Buffer.from(hmac(claims));
  const given = Buffer.from(seal);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const [accessKeyId = '', name = '', expiresAt = '', issuedAt = '', limits = ''] = Buffer.from(
    claims,
    'base64url',
  )
    .toString()
    .split(' ');
  const policy = limits ? parsePolicy(Buffer.from(limits, 'base64url').toString()) : null;
  return { accessKeyId, name, expiresAt: Number(expiresAt), issuedAt: Number(issuedAt), policy };
}

const hmac = (text: string): string =>
  createHmac('sha256', SESSION_SIGNING_KEY).update(text).digest('base64url');

const secretOf = (accessKeyId: string): string => hmac(`secret ${accessKeyId}`).slice(0, 40);
