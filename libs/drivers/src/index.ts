export { DriverError, driverErrorOf } from './driver-error';
export type {
  CloudTarget,
  DriverCredential,
  DriverTraits,
  ProviderDriver,
  RuleChange,
} from './provider-driver';
export type { CredentialShape, FieldForm, TargetName, ResourceTypeFacts, Revocation } from './provider-facts';
export { CUTS_CONNECTIONS } from './provider-facts';
export { DriverRegistry } from './registry';
export { AreTenantNetworks } from './tenant-url/tenant-networks';
