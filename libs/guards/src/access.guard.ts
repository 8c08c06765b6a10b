import { ForbiddenException, Injectable, UnauthorizedException, type ExecutionContext } from '@nestjs/common';
import { AuthGuard, type AuthGuardAuthenticateOptions } from '@nestjs/passport';
import type { IncomingMessage } from 'node:http';
import { PRINCIPAL } from './current-principal';
import { GuardSettings } from './guard-settings';
import { BEARER } from './jwt.strategy';
import { isOpenDuringMfaSetup } from './mfa-setup';
import { presentedCredential } from './presented-credential';
import { PrincipalLookup, type Principal } from './principal';
import { routePolicyOf, type RoutePolicy } from './route-policy';
import { ScopeError } from './scope-error';
import { isAllowedWhileSuspended, SUSPENDED_MESSAGE } from './suspension';
import { scopeNeedsPaidPlan, type Scope } from './scopes';

type GuardedRequest = IncomingMessage & { [PRINCIPAL]?: Principal };
type GuardedPolicy = Exclude<RoutePolicy, { kind: 'public' }>;

/** Decides, for every route, whether its caller may. A route without a policy is closed to all. */
@Injectable()
export class AccessGuard extends AuthGuard(BEARER) {
  constructor(
    private readonly settings: GuardSettings,
    private readonly lookup: PrincipalLookup,
  ) {
    super();
  }

  /** @throws UnauthorizedException, ForbiddenException or ScopeError; else the request has its principal */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const policy = routePolicyOf(context.getHandler(), context.getClass());
    if (!policy) throw new ForbiddenException('This operation is not open to anybody');
    if (policy.kind === 'public') return true;
    const principal = await this.principalOf(context, policy);
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
    if (policy.kind === 'platform') refuseUnlessPlatform(principal, policy.write);
    else if (principal.suspended) refuseUnlessAllowed(context);
    return true;
  }

  private async principalOf(context: ExecutionContext, policy: GuardedPolicy): Promise<Principal> {
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    const presented = presentedCredential(request.headers);
    if (presented.kind === 'none') throw new UnauthorizedException('Authentication is required');
    if (presented.kind === 'bearer' && this.settings.hashApiKey(presented.value) !== null) {
      throw new UnauthorizedException('This is an API key, no access token: send it as X-API-Key');
    }
    if (presented.kind === 'key') {
      request[PRINCIPAL] = await this.principalOfKey(presented.plainText, request, policy);
    } else {
      await super.canActivate(context);
    }
    return request[PRINCIPAL]!;
  }

  private async principalOfKey(
    text: string,
    request: GuardedRequest,
    policy: GuardedPolicy,
  ): Promise<Principal> {
    const { scope } = policy;
    if (!scope)
      throw new UnauthorizedException('This operation takes no API key: sign in for a bearer token');
    const hash = this.settings.hashApiKey(text);
    const principal = hash && (await this.lookup.ofApiKey(hash, this.settings.callerAddressOf(request)));
    if (!principal) throw new UnauthorizedException('The API key is invalid, expired or revoked');
    if (!principal.scopes.includes(scope)) throw new ScopeError(scope);
    if (principal.tier === 'FREE' && needsPaidPlan(policy, scope)) {
      throw new ForbiddenException(
        `API keys with the scope ${scope} need the Paid plan: an administrator subscribes with POST /billing/subscribe`,
      );
    }
    return principal;
  }

  /** What passport found out about a bearer token. An error is the look-up's and stays what it is. */
  override handleRequest<TUser = Principal>(error: unknown, principal: TUser | false | null): TUser {
    if (error instanceof Error) throw error;
    if (!principal) throw new UnauthorizedException('The access token is invalid or expired');
    return principal;
  }

  override getAuthenticateOptions(): AuthGuardAuthenticateOptions {
    return { session: false, property: PRINCIPAL };
  }
}

function refuseUnlessAllowed(context: ExecutionContext): void {
  const { method = '' } = context.switchToHttp().getRequest<GuardedRequest>();
  if (isAllowedWhileSuspended(method, context.getHandler(), context.getClass())) return;
  throw new ForbiddenException(SUSPENDED_MESSAGE);
}

const needsPaidPlan = (policy: GuardedPolicy, scope: Scope): boolean =>
  scopeNeedsPaidPlan(scope) && !('onFreePlan' in policy && policy.onFreePlan);

function refuseUnlessPlatform({ platformRole }: Principal, write: boolean): void {
  if (platformRole === 'SUPER_ADMIN' || (platformRole === 'SUPPORT' && !write)) return;
  const allowed = write ? 'SUPER_ADMIN' : 'SUPER_ADMIN or SUPPORT';
  throw new ForbiddenException(`Only a user with the platform role ${allowed} may do this`);
}
