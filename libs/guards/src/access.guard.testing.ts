import { randomUUID } from 'node:crypto';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { asOrganizationId } from '#rules';
import { AccessGuard } from './access.guard';
import { AccessTokens } from './access-tokens';
import { JwtStrategy } from './jwt.strategy';
import type { GuardSettings } from './guard-settings';
import { PrincipalLookup, type Principal, type WorkloadClaims } from './principal';
import { AllowedWhileLockedDown } from './lockdown';
import { OpenDuringMfaSetup } from './mfa-setup';
import { AdminOnly, KeyOnly, Platform, Public, SignedIn } from './route-policy';
import { AllowedWhileSuspended } from './suspension';
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
  readonly workloads = new Map<string, Principal>();
  readonly sessions = new Map<string, Principal>();
  readonly asked: string[] = [];

  async ofUser(userId: string, organizationId: string): Promise<Principal | null> {
    const known = this.user?.userId === userId && this.user.organizationId === organizationId;
    return known ? this.user : null;
  }

  async ofWorkload({ userId, trustId }: WorkloadClaims): Promise<Principal | null> {
    return userId === user.userId ? (this.workloads.get(trustId) ?? null) : null;
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

export class Routes {
  @Public() open(): void {}
  @SignedIn() members(): void {}
  @SignedIn() @AllowedWhileSuspended() close(): void {}
  @SignedIn({ scope: 'sessions:write', sessionToken: true }) @AllowedWhileLockedDown() stop(): void {}
  @SignedIn({ scope: 'sessions:write' }) start(): void {}
  @SignedIn({ scope: 'sessions:write', sessionToken: true }) @AllowedWhileSuspended() renew(): void {}
  @KeyOnly({ scope: 'agent:connect' }) agents(): void {}
  @AdminOnly() admins(): void {}
  @AdminOnly({ scope: 'audit:read' }) audit(): void {}
  @Platform() survey(): void {}
  @Platform({ write: true }) suspend(): void {}
  @SignedIn() @OpenDuringMfaSetup() setUpMfa(): void {}
  forgotten(): void {}
}

@SignedIn()
@OpenDuringMfaSetup()
export class MfaController {
  setUp(): void {}
}

@SignedIn()
export class WholeController {
  members(): void {}
  @Public() open(): void {}
}

export type Headers = Record<string, string>;

export const directory = new Directory();
export const tokens = new AccessTokens(settings);
export const workloadTokens = new WorkloadTokens(settings);
const guard = new AccessGuard(settings, directory);

export const call = async (
  handler: () => void,
  headers: Headers = {},
  controller: new () => object = Routes,
  method = 'GET',
  params: Readonly<Record<string, string>> = {},
): Promise<{ principal?: Principal }> => {
  const request: {
    headers: Headers;
    method: string;
    params?: Readonly<Record<string, string>>;
    principal?: Principal;
  } = Object.keys(params).length > 0 ? { headers, method, params } : { headers, method };
  await guard.canActivate(new ExecutionContextHost([request, {}], controller, handler));
  return request;
};
export const routes = Routes.prototype;
export const signIn = { id: randomUUID(), mfaSetupOnly: false };
export const bearer = async (mfaSetupOnly = false): Promise<Headers> => ({
  authorization: `Bearer ${(await tokens.issue(user, { ...signIn, mfaSetupOnly })).accessToken}`,
});

/** Registers the strategy with passport, which the guard asks about access tokens. */
export const registerStrategy = (): void => {
  void new JwtStrategy(settings, directory);
};

/** The directory as each test finds it: one user, two keys, nothing asked. */
export function resetDirectory(): void {
  directory.user = user;
  directory.asked.length = 0;
  directory.keys.clear();
  directory.workloads.clear();
  directory.sessions.clear();
  directory.keys.set('hash of dbk_writer', { ...user, kind: 'key', scopes: ['sessions:write'] });
  directory.keys.set('hash of dbk_auditor', { ...user, kind: 'key', scopes: ['audit:read'] });
}
