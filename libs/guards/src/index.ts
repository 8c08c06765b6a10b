export { AccessGuard } from './access.guard';
export { AccessTokens } from './access-tokens';
export { CompanySignInRequired } from './company-sign-in';
export { CurrentPrincipal, principalOfRequest } from './current-principal';
export { GuardSettings } from './guard-settings';
export { GuardsModule } from './guards.module';
export { AllowedWhileLockedDown, lockdownMessage } from './lockdown';
export { OpenDuringMfaSetup } from './mfa-setup';
export { presentedCredential } from './presented-credential';
export type { PlatformRole } from '#rules';
export { PrincipalLookup, type Principal, type SignIn, type WorkloadClaims } from './principal';
export {
  AdminOnly,
  KeyOnly,
  Platform,
  Public,
  routePolicyOf,
  SignedIn,
  type RoutePolicy,
} from './route-policy';
export {
  isScope,
  SCOPES,
  scopeNeedsPaidPlan,
  WORKLOAD_SCOPES,
  type Scope,
  type WorkloadScope,
} from './scopes';
export { ScopeError } from './scope-error';
export { AllowedWhileSuspended, isAllowedWhileSuspended, SUSPENDED_MESSAGE } from './suspension';
export { tokenKeyOf, type TokenKey } from './token-keys';
export { StepTokens } from './step-tokens';
export { WorkloadTokens } from './workload-tokens';
