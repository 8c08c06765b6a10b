export { AccessGuard } from './access.guard';
export { AccessTokens, type AccessClaims, type IssuedToken } from './access-tokens';
export { CurrentPrincipal, principalOfRequest } from './current-principal';
export { GuardSettings } from './guard-settings';
export { GuardsModule } from './guards.module';
export { PrincipalLookup, type PlatformRole, type Principal } from './principal';
export { AdminOnly, Public, routePolicyOf, SignedIn, type RoutePolicy } from './route-policy';
export { isScope, SCOPES, scopeNeedsPaidPlan, type Scope } from './scopes';
export { ScopeError } from './scope-error';
