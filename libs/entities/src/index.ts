export {
  ACCESS_DECISIONS,
  ACCESS_REQUEST_STATUSES,
  type AccessDecision,
  type AccessRequestEntity,
  type AccessRequestStatus,
} from './access-request.entity';
export * from './audit-record.entity';
export * from './audit-trail';
export { auditTable, type AuditTable } from './audit-table';
export * from './answers';
export * from './database';
export type { DatabaseSettings } from './data-source';
export { isConflict, isTextRefused, isUnavailable } from './database-faults';
export * from './ledger-partitions';
export * from './monthly-partitions';
export { NOTICE_CURSORS, type NoticeCursorKind } from './notice.entity';
export * from './notice-switches';
export * from './notification-feed';
export * from './postgres-error';
export { OrganizationEntity } from './organization.entity';
export { OIDC_PRESETS, type OidcPreset, type OidcTrustEntity } from './oidc.entity';
export * from './repository-options';
export {
  HEALTH_EVENT_TYPES,
  CredentialEntity,
  type HealthEventType,
  ResourceEntity,
  type ResourceHealthEventEntity,
} from './resource.entity';
export type { AccountTokenPurpose } from './sign-in.entity';
export { BillingDetailsEntity, PaymentEntity, type SubscriptionEntity } from './billing.entity';
export { RoleEntity } from './role.entity';
export { StaticIpRuleEntity } from './session.entity';
export * from './list-query';
export * from './slice';
export {
  IdentityProviderEntity,
  SsoAttemptEntity,
  SsoSignInEntity,
  type UserIdentityEntity,
} from './sso.entity';
export * from './status-lists';
export * from './timed-list';
export { Trial } from './trial';
export type { TenantStore } from './tenant-store';
export * from './unusable-database';
export * from './sealed-credential';
export * from './write-probe';
export * from './webhook.entity';
export { ApiKeyEntity, type UserEntity } from './user.entity';
