export type { CloudAccount } from './cloud-accounts';
export { DriverError, driverErrorOf } from './driver-error';
export { dropProxyVariables, egressAgents, routeEgress } from './egress';
export type { IdentityTokens } from './identity-tokens';
export { signedJwt } from './signed-jwt';
export type {
  CloudDriver,
  CloudTarget,
  DriverCredential,
  DriverTraits,
  Inspection,
  ProviderDriver,
  RuleChange,
} from './provider-driver';
export type {
  AccountShape,
  CredentialShape,
  Family,
  FieldForm,
  TargetName,
  ResourceTypeFacts,
  Revocation,
} from './provider-facts';
export { BOTH_FAMILIES, CUTS_CONNECTIONS, firstTypeOf, policyOf } from './provider-facts';
export { DriverRegistry } from './registry';
export { NoTenantResponse, PinnedConnection } from './tenant-url/pinned-connection';
export { ForbiddenHost, InternalHosts, TenantHosts } from './tenant-url/tenant-hosts';
export { AreTenantNetworks, type TenantNetwork, tenantNetworks } from './tenant-url/tenant-networks';
export { readTenantUrl, tenantUrlRefusal, type TenantUrl } from './tenant-url/tenant-url';
export { readRetryAfter } from './retry-after';
