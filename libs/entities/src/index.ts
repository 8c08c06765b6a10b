export * from './account-token.store';
export * from './account.store';
export * from './api-key.store';
export * from './audit-chain.store';
export * from './audit-record.entity';
export * from './audit.store';
export * from './backlog.store';
export * from './billing.store';
export * from './convergence.store';
export * from './credential.store';
export type { DatabaseSettings } from './data-source';
export * from './database';
export * from './departure.store';
export * from './idempotency.store';
export * from './lease.store';
export type { NewOpening, WantedRules, WokenTargets } from './openings';
export * from './reconcile.store';
export * from './resource-rules.store';
export * from './organization.store';
export * from './platform.store';
export * from './mfa.store';
export * from './password.store';
export * from './refresh-token.store';
export * from './overdue.store';
export { HEALTH_EVENT_TYPES, type HealthEventType } from './resource.entity';
export * from './resource-health.store';
export * from './payment-event.store';
export * from './resource.store';
export * from './role.store';
export * from './session-wait.store';
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
export type { AccountTokenPurpose } from './sign-in.entity';
export * from './sign-in-failure.store';
export * from './spent-token.store';
export * from './subscription-move.store';
export * from './subscription-sweep.store';
export * from './sweep.store';
export type { TenantStore } from './tenant-store';
export type { PlatformRole } from './user.entity';
export * from './user.store';
export * from './verification.store';
