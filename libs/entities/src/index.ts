export * from './account-token.store';
export * from './account.store';
export * from './api-key.store';
export * from './audit-record.entity';
export * from './audit.store';
export * from './convergence.store';
export * from './credential.store';
export type { DatabaseSettings } from './data-source';
export * from './database';
export * from './lease.store';
export * from './mfa.store';
export * from './password.store';
export * from './refresh-token.store';
export * from './resource.store';
export * from './role.store';
export { SessionStore } from './session.store';
export type {
  GrantRow,
  NewOpening,
  NewSession,
  ResourceIpRow,
  SessionFilter,
  SessionRow,
  Slice,
  StoppedSession,
} from './session.store';
export * from './settlement.store';
export type { AccountTokenPurpose } from './sign-in.entity';
export * from './sign-in-failure.store';
export * from './spent-token.store';
export * from './sweep.store';
export type { TenantStore } from './tenant-store';
