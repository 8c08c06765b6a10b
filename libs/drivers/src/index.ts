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
  ConfigField,
  CredentialShape,
  CredentialTypes,
  FieldForm,
  NamedObject,
  PlacedObject,
  ProviderFacts,
  ResourceTypeFacts,
} from './provider-facts';
export { DriverRegistry } from './registry';
