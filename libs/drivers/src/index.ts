export { agentAbsence } from './agent/agent-absence';
export { DriverError, driverErrorOf } from './driver-error';
export type {
  CloudTarget,
  DriverCredential,
  DriverTraits,
  ProviderDriver,
  RuleChange,
} from './provider-driver';
export type {
  CredentialShape,
  CredentialTypes,
  FieldForm,
  ProviderFacts,
  ResourceTypeFacts,
} from './provider-facts';
export { DriverRegistry } from './registry';
