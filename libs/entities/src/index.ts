export * from './account.store';
export * from './api-key.store';
export * from './audit-record.entity';
export * from './audit.store';
export * from './convergence.store';
export * from './credential.store';
export type { DatabaseSettings } from './data-source';
export * from './database';
export * from './lease.store';
export type { NewOpening, WantedRules, WokenTargets } from './openings';
export * from './reconcile.store';
export * from './resource-rules.store';
export * from './resource.store';
export * from './role.store';
export { SessionStore } from './session.store';
export type {
  GrantRow,
  NewSession,
  ResourceIpRow,
  SessionFilter,
  SessionRow,
  Slice,
  StoppedSession,
} from './session.store';
export * from './settlement.store';
export * from './static-ip-rule.store';
export * from './sweep.store';
export type { TenantStore } from './tenant-store';
