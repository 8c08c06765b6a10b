export { DriverError } from './driver-error';
export { DriverRegistry } from './registry';
export type {
  CloudTarget,
  DriverCredential,
  DriverTraits,
  ProviderDriver,
  RuleChange,
} from './provider-driver';
