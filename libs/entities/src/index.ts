export * from './account.store';
export * from './api-key.store';
export * from './audit-record.entity';
export * from './audit.store';
export * from './billing.store';
export * from './convergence.store';
export * from './credential.store';
export type { DatabaseSettings } from './data-source';
export * from './database';
export * from './lease.store';
export * from './payment-event.store';
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
export * from './subscription-move.store';
export * from './subscription-sweep.store';
export * from './sweep.store';
export type { TenantStore } from './tenant-store';
