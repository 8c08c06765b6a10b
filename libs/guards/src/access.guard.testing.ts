import { randomUUID } from 'node:crypto';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { asOrganizationId } from '#rules';
import { AccessGuard } from './access.guard';
import { AccessTokens } from './access-tokens';
import { JwtStrategy } from './jwt.strategy';
import type { GuardSettings } from './guard-settings';
import { PrincipalLookup, type Principal, type WorkloadClaims } from './principal';
import { SignedIn } from './route-policy';
import { tokenKeyOf } from './token-keys';
import { WorkloadTokens } from './workload-tokens';

export const secret = 'a secret of thirty-two characters';
export const previous = 'the secret before of thirty-two letters';
const settings: GuardSettings = {
  tokenKeys: [tokenKeyOf(secret), tokenKeyOf(previous)],
  accessTokenTtlSeconds: 900,
  hashApiKey: (text) => (text.startsWith('dbk_') ? `hash of ${text}` : null),
  hashSessionToken: (text) => (text.startsWith('dbs_') ? `hash of ${text}` : null),
  callerAddressOf: () => '203.0.113.7',
};

export const user: Principal = {
  kind: 'user',
  userId: randomUUID(),
  organizationId: asOrganizationId(randomUUID()),
  email: 'ada@example.com',
  name: 'Ada',
  isOrgAdmin: false,
  platformRole: 'CUSTOMER',
  mfaEnabled: false,
  organizationName: 'Example',
  organizationSlug: 'example',
  tier: 'PAID',
  suspended: false,
  lockdown: null,
  requireDetectedAddress: false,
  maxResourcesPerSession: null,
  keyId: null,
  keyName: null,
  sessionId: null,
  scopes: [],
  signIn: null,
  companySignIn: null,
};

class Directory extends PrincipalLookup {
  user: Principal | null = user;
  readonly keys = new Map<string, Principal>();
  readonly trustId = randomUUID();
  readonly sessions = new Map<string, Principal>();
  readonly asked: string[] = [];

  async ofUser(userId: string, organizationId: string): Promise<Principal | null> {
    const known = this.user?.userId === userId && this.user.organizationId === organizationId;
    return known ? this.user : null;
  }

  async ofWorkload({ trustId }: WorkloadClaims): Promise<Principal | null> {
    return trustId === this.trustId ? { ...user, kind: 'workload', scopes: ['sessions:write'] } : null;
  }

  async ofSession(tokenHash: string): Promise<Principal | null> {
    this.asked.push(tokenHash);
    return this.sessions.get(tokenHash) ?? null;
  }

  async ofApiKey(keyHash: string, callerAddress: string | null): Promise<Principal | null> {
    this.asked.push(`${keyHash} from ${callerAddress}`);
    return this.keys.get(keyHash) ?? null;
  }
}

class Routes {
  @SignedIn() members(): void {}
  @SignedIn({ scope: 'sessions:write' }) start(): void {}
  @SignedIn({ scope: 'sessions:write', sessionToken: true }) renew(): void {}
  forgotten(): void {}
}

type Headers = Record<string, string>;

export const directory = new Directory();
export const tokens = new AccessTokens(settings);
export const workloadTokens = new WorkloadTokens(settings);
const guard = new AccessGuard(settings, directory);

/** @param id in the path */
export const call = async (
  handler: () => void,
  headers: Headers,
  id?: string,
): Promise<{ principal?: Principal }> => {
  const request: { headers: Headers; params: object; principal?: Principal } = { headers, params: { id } };
  await guard.canActivate(new ExecutionContextHost([request, {}], Routes, handler));
  return request;
};
export const routes = Routes.prototype;
export const signIn = { id: randomUUID(), mfaSetupOnly: false };
export const bearer = async (): Promise<Headers> => ({
  authorization: `Bearer ${(await tokens.issue(user, signIn)).accessToken}`,
});

/** Registers the strategy with passport, which the guard asks about access tokens. */
export const registerStrategy = (): void => {
  void new JwtStrategy(settings, directory);
};

/** The directory as each test finds it: one user, one key, nothing asked. */
export function resetDirectory(): void {
  directory.user = user;
  directory.asked.length = 0;
  directory.keys.clear();
  directory.sessions.clear();
  directory.keys.set('hash of dbk_writer', { ...user, kind: 'key', scopes: ['sessions:write'] });
}
