export * from './issuer-checks';
export * from './issuer-claims';
export * from './issuer-client';
export * from './issuer-clients';
export type { IssuerCheck } from './issuer-demands';
export { IssuerFailure, type IssuerFailureKind } from './issuer-failure';
