export * from './api-keys';
export * from './audit-seal';
export * from './credential-seal';
export * from './data-keys';
export * from './field-seal';
export * from './master-keys';
export * from './opaque-tokens';
export * from './passwords';
export { SealBrokenError } from './sealing';
