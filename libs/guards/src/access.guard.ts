import { ForbiddenException, Injectable, UnauthorizedException, type ExecutionContext } from '@nestjs/common';
import { AuthGuard, type AuthGuardAuthenticateOptions } from '@nestjs/passport';
import type { IncomingMessage } from 'node:http';
import { CompanySignInRequired } from './company-sign-in';
import { PRINCIPAL } from './current-principal';
import { GuardSettings } from './guard-settings';
import { BEARER } from './jwt.strategy';
import { isAllowedWhileLockedDown, lockdownMessage } from './lockdown';
import { isOpenDuringMfaSetup } from './mfa-setup';
import { presentedCredential, type PresentedSecret } from './presented-credential';
import { PrincipalLookup, type Principal } from './principal';
import { routePolicyOf, type RoutePolicy } from './route-policy';
import { ScopeError } from './scope-error';
import { isAllowedWhileSuspended, SUSPENDED_MESSAGE } from './suspension';
import { scopeNeedsPaidPlan, type Scope } from './scopes';

type GuardedRequest = IncomingMessage & {
  readonly params?: Readonly<Record<string, string>>;
  [PRINCIPAL]?: Principal;
};
const NO_KEYS = 'This operation takes no API key: sign in for a bearer token';
const NO_SESSION_TOKENS =
  'This operation takes no session token: such a token only reads, renews and stops its session';
const NO_WORKLOADS = 'This operation takes no access token of a CI job';

/** By kind of credential. */
const INVALID = {
  key: 'The API key is invalid, expired or revoked',
  session: 'The session token is invalid: its session has ended, or its user or API key has lost access',
  bearer: 'The access token is invalid or expired',
  none: 'Authentication is required',
} as const;

type GuardedPolicy = Exclude<RoutePolicy, { kind: 'public' }>;

/** Authorizes every route by its policy. A route without a policy is denied to everyone. */
@Injectable()
export class AccessGuard extends AuthGuard(BEARER) {
  constructor(
    private readonly settings: GuardSettings,
    private readonly lookup: PrincipalLookup,
  ) {
    super();
  }

  /** Sets the request's principal. @throws UnauthorizedException, ForbiddenException or ScopeError */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const policy = routePolicyOf(context.getHandler(), context.getClass());
    if (!policy) throw new ForbiddenException('This operation is not open to anybody');
    if (policy.kind === 'public') return true;
    const principal = await this.principalOf(context, policy);
    if (principal.companySignIn === 'missing') throw new CompanySignInRequired();
    if (principal.signIn?.mfaSetupOnly && !isOpenDuringMfaSetup(context.getHandler(), context.getClass())) {
      throw new ForbiddenException(
        principal.mfaEnabled
          ? 'MFA is set up, but this token is from before: sign in again'
          : 'Your organization requires MFA: set it up with POST /mfa/setup, then sign in again',
      );
    }
    if (policy.kind === 'admin' && !principal.isOrgAdmin) {
      throw new ForbiddenException('Only an administrator of the organization may do this');
    }
    if (policy.kind === 'key' && principal.kind !== 'key') {
      throw new ForbiddenException(`Only an API key with the scope ${policy.scope} may do this`);
    }
    refuseLockedDownUser(principal, context);
    if (policy.kind === 'platform') refuseUnlessPlatform(principal, policy.write);
    else if (principal.suspended) refuseUnlessAllowed(context);
    return true;
  }

  private async principalOf(context: ExecutionContext, policy: GuardedPolicy): Promise<Principal> {
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    const presented = presentedCredential(request.headers);
    if (presented.kind === 'none') throw new UnauthorizedException(INVALID.none);
    if (presented.kind === 'bearer' && this.settings.hashApiKey(presented.text) !== null) {
      throw new UnauthorizedException('This is an API key, no access token: send it as X-API-Key');
    }
    if (presented.kind === 'bearer' && this.settings.hashSessionToken(presented.text) !== null) {
      throw new UnauthorizedException(
        'This is a session token, no access token: send it as Authorization: Session',
      );
    }
    if (presented.kind === 'key' && !policy.scope) {
      throw new UnauthorizedException(NO_KEYS);
    }
    if (presented.kind === 'session' && !takesSessionTokens(policy)) {
      throw new UnauthorizedException(NO_SESSION_TOKENS);
    }
    if (presented.kind === 'bearer') await super.canActivate(context);
    else request[PRINCIPAL] = await this.holderOf(presented, request);
    const principal = request[PRINCIPAL]!;
    if (principal.kind === 'session') refuseUnlessItsOwn(principal, request);
    if (principal.kind === 'key' || principal.kind === 'workload') refuseUnlessScoped(principal, policy);
    return principal;
  }

  /** Reads the principal of a key, whose use is recorded, or of a session's token. */
  private async holderOf({ kind, text }: PresentedSecret, request: GuardedRequest): Promise<Principal> {
    const { settings, lookup } = this;
    const isKey = kind === 'key';
    const hash = isKey ? settings.hashApiKey(text) : settings.hashSessionToken(text);
    const held =
      hash !== null &&
      (await (isKey ? lookup.ofApiKey(hash, settings.callerAddressOf(request)) : lookup.ofSession(hash)));
    if (held) return held;
    throw new UnauthorizedException(INVALID[kind]);
  }

  /** Handles the strategy's result. Errors of the look-up are rethrown. */
  override handleRequest<TUser = Principal>(error: unknown, principal: TUser | false | null): TUser {
    if (error instanceof Error) throw error;
    if (principal) return principal;
    throw new UnauthorizedException(INVALID.bearer);
  }

  override getAuthenticateOptions(): AuthGuardAuthenticateOptions {
    return { session: false, property: PRINCIPAL };
  }
}

/** A list of what is allowed, not of what is not: each route that is forgotten in it is refused. */
function refuseLockedDownUser({ lockdown }: Principal, context: ExecutionContext): void {
  if (lockdown?.scope !== 'USER') return;
  const { method = '' } = context.switchToHttp().getRequest<GuardedRequest>();
  if (isAllowedWhileLockedDown(method, context.getHandler(), context.getClass())) return;
  throw new ForbiddenException(lockdownMessage(lockdown));
}

function refuseUnlessAllowed(context: ExecutionContext): void {
  const { method = '' } = context.switchToHttp().getRequest<GuardedRequest>();
  if (isAllowedWhileSuspended(method, context.getHandler(), context.getClass())) return;
  throw new ForbiddenException(SUSPENDED_MESSAGE);
}

const takesSessionTokens = (policy: GuardedPolicy): boolean =>
  'sessionToken' in policy && policy.sessionToken;

function refuseUnlessItsOwn({ sessionId }: Principal, { params }: GuardedRequest): void {
  if (sessionId !== null && params?.['id']?.toLowerCase() === sessionId) return;
  throw new ForbiddenException('The session token is for another session');
}

function refuseUnlessScoped({ kind, scopes, tier }: Principal, policy: GuardedPolicy): void {
  const { scope } = policy;
  if (!scope) throw new UnauthorizedException(kind === 'key' ? NO_KEYS : NO_WORKLOADS);
  if (!scopes.includes(scope)) throw new ScopeError(scope);
  if (tier === 'FREE' && needsPaidPlan(policy, scope)) {
    throw new ForbiddenException(
      `API keys with the scope ${scope} need the Paid plan: an administrator subscribes with POST /billing/subscribe (drawbridge billing subscribe)`,
    );
  }
}

const needsPaidPlan = (policy: GuardedPolicy, scope: Scope): boolean =>
  scopeNeedsPaidPlan(scope) && !('onFreePlan' in policy && policy.onFreePlan);

function refuseUnlessPlatform({ platformRole }: Principal, write: boolean): void {
  if (platformRole === 'SUPER_ADMIN' || (platformRole === 'SUPPORT' && !write)) return;
  const allowed = write ? 'SUPER_ADMIN' : 'SUPER_ADMIN or SUPPORT';
  throw new ForbiddenException(`Only a user with the platform role ${allowed} may do this`);
}
