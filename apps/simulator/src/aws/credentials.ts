import { randomBytes } from 'node:crypto';
import { SealedTokens } from '../sealed-tokens';
import type { Clock } from '../ground-truth/clock';
import type { SessionPolicy } from './session-policy';

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

/** The principal of a request. */
export interface Caller {
  readonly arn: string;
  readonly userId: string;
  readonly account: string;
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

/** A role by its account and its name. */
export interface Role {
  readonly account: string;
  readonly name: string;
}

interface SessionClaims {
  readonly accessKeyId: string;
  readonly role: Role;
  readonly name: string;
  readonly policy: SessionPolicy | null;
}

/** The keys that requests are signed with: those of the simulated user, and temporary ones of its role. */
export class Credentials {
  readonly sessions: SealedTokens<SessionClaims>;

  constructor(clock: Clock) {
    this.sessions = new SealedTokens(clock, 'simulated-session-signing-key');
  }

  /** Finds the caller of a key id; temporary keys (`ASIA…`) are valid only with their session token. */
  find(
    accessKeyId: string,
    region: string,
    sessionToken: string | undefined,
  ): Caller | 'unknown' | 'expired' {
    const key = KEYS[accessKeyId];
    if (key && key.partition !== partitionOf(region)) return 'unknown';
    if (key && sessionToken === undefined) {
      return {
        arn: `arn:aws:iam::${ACCOUNT_ID}:user/simulated`,
        userId: 'AIDASIMULATED0000001',
        account: ACCOUNT_ID,
        secretAccessKey: key.secret,
        sessionToken,
        policy: null,
      };
    }
    const session = sessionToken === undefined ? null : this.sessions.read(sessionToken);
    if (session?.accessKeyId !== accessKeyId) return 'unknown';
    if (session.isExpired) return 'expired';
    return {
      arn: assumedRoleArn(session.role, session.name),
      userId: assumedRoleId(session.name),
      account: session.role.account,
      secretAccessKey: this.secretOf(accessKeyId),
      sessionToken,
      policy: session.policy,
    };
  }

  /** Issues temporary keys of a role. */
  issueSession(
    role: Role,
    name: string,
    durationSeconds: number,
    policy: SessionPolicy | null,
  ): SessionCredentials {
    const accessKeyId = `ASIA${randomBytes(8).toString('hex').toUpperCase()}`;
    const expiresAt = Math.floor(Date.now() / 1000 + durationSeconds) * 1000;
    return {
      accessKeyId,
      secretAccessKey: this.secretOf(accessKeyId),
      sessionToken: this.sessions.issue({ accessKeyId, role, name, policy }, expiresAt),
      expiration: new Date(expiresAt),
    };
  }

  private secretOf(accessKeyId: string): string {
    return this.sessions.seal(`secret ${accessKeyId}`).slice(0, 40);
  }
}

export const assumedRoleArn = (role: Role, name: string): string =>
  `arn:aws:sts::${role.account}:assumed-role/${role.name}/${name}`;

export const assumedRoleId = (name: string): string => `AROASIMULATED0000001:${name}`;
