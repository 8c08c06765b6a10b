import { DataSource } from 'typeorm';
import { AgentEntity } from './agent.entity';
import {
  AuditCheckpointEntity,
  AuditExportEntity,
  AuditRecordEntity,
  AuditSealCursorEntity,
  AuditSealEntity,
  UnwrittenAuditRecordEntity,
} from './audit-record.entity';
import {
  BillingDetailsEntity,
  PaymentEntity,
  PaymentEventEntity,
  SubscriptionEntity,
} from './billing.entity';
import { DatabasePool, type DatabasePoolConfig } from './database-pool';
import { GrantVersionEntity } from './grant-version.entity';
import { IdentityKeyEntity } from './identity-key.entity';
import { FirstTables1760000000000 } from './migrations/1760000000000-first-tables';
import { AccountsStaticRulesBillingAuditReconcile1770000000000 } from './migrations/1770000000000-accounts-static-rules-billing-audit-reconcile';
import { UnwrittenAuditRecords1780100000000 } from './migrations/1780100000000-unwritten-audit-records';
import { Agents1780200000000 } from './migrations/1780200000000-agents';
import { ListsInFlight1780300000000 } from './migrations/1780300000000-lists-in-flight';
import { LiveStateAndLedger1790000000000 } from './migrations/1790000000000-live-state-and-ledger';
import { EndedHoldersAndRules1790000100000 } from './migrations/1790000100000-ended-holders-and-rules';
import { RetentionIndexes1790000200000 } from './migrations/1790000200000-retention-indexes';
import { AbandonedResources1790000400000 } from './migrations/1790000400000-abandoned-resources';
import { DeletedCredentials1790000500000 } from './migrations/1790000500000-deleted-credentials';
import { ReportIndexes1790000300000 } from './migrations/1790000300000-report-indexes';
import { AgentKeys1790200000000 } from './migrations/1790200000000-agent-keys';
import { ServiceUsers1790210000000 } from './migrations/1790210000000-service-users';
import { LiveSessionLimits1790220000000 } from './migrations/1790220000000-live-session-limits';
import { SignInsDevicesInvitations1790100000000 } from './migrations/1790100000000-sign-ins-devices-invitations';
import { RefreshTokensByUser1790100100000 } from './migrations/1790100100000-refresh-tokens-by-user';
import { AuditCheckpoints1790300100000 } from './migrations/1790300100000-audit-checkpoints';
import { SubscriptionEnds1790400000000 } from './migrations/1790400000000-subscription-ends';
import { HostGuards1790500000000 } from './migrations/1790500000000-host-guards';
import { LedgerUpkeepFunctions1790300000000 } from './migrations/1790300000000-ledger-upkeep-functions';
import { FlatLists1790600000000 } from './migrations/1790600000000-flat-lists';
import { PromptWrites1790600900000 } from './migrations/1790600900000-prompt-writes';
import { GrantVersions1790700000000 } from './migrations/1790700000000-grant-versions';
import { AgentWaits1790800000000 } from './migrations/1790800000000-agent-waits';
import { HistoryRetention1790810000000 } from './migrations/1790810000000-history-retention';
import { AuditPartitions1790810100000 } from './migrations/1790810100000-audit-partitions';
import { ReleaseFunctions1790820000000 } from './migrations/1790820000000-release-functions';
import { SessionLeases1790900000000 } from './migrations/1790900000000-session-leases';
import { SessionTokens1790900100000 } from './migrations/1790900100000-session-tokens';
import { OidcTrusts1790910000000 } from './migrations/1790910000000-oidc-trusts';
import { UnfollowedResourceIps1791010000000 } from './migrations/1791010000000-unfollowed-resource-ips';
import { OidcTrustEntity, OidcUsedTokenEntity } from './oidc.entity';
import { WrongFamilies1790920000000 } from './migrations/1790920000000-wrong-families';
import { IdentityKeys1790930000000 } from './migrations/1790930000000-identity-keys';
import { SweepHeartbeat1791030000000 } from './migrations/1791030000000-sweep-heartbeat';
import { EndsOfAccess1791040000000 } from './migrations/1791040000000-ends-of-access';
import { OrganizationDeletion1791080000000 } from './migrations/1791080000000-organization-deletion';
import { NoListMarks1791100000000 } from './migrations/1791100000000-no-list-marks';
import { DataKeyEntity, OrganizationEntity } from './organization.entity';
import { CredentialEntity, ResourceEntity, ResourceHealthEventEntity } from './resource.entity';
import { RoleEntity, RoleResourceEntity, RoleUserEntity } from './role.entity';
import {
  IdempotencyKeyEntity,
  ResourceIpEntity,
  RuleHolderEntity,
  SessionEntity,
  StaticIpRuleEntity,
} from './session.entity';
import {
  AccountTokenEntity,
  KnownDeviceEntity,
  MfaChallengeEntity,
  RecoveryCodeEntity,
  SignInFailureEntity,
} from './sign-in.entity';
import { SnakeCaseNaming } from './snake-case-naming';
import {
  RuleEntity,
  SweeperLeaseEntity,
  TargetEntity,
  UnmanagedRuleEntity,
  WriteBudgetEntity,
  WriteProbeEntity,
} from './target.entity';
import { ApiKeyEntity, RefreshTokenEntity, UserEntity } from './user.entity';

export interface DatabaseSettings {
  readonly url: string;
  readonly applicationName: string;
  /** maximum number of connections of this process */
  readonly poolSize: number;
  /** false: no statement timeout, for migrations; default true */
  readonly hasTimeouts?: boolean;
}

/**
 * Opening a connection costs the database a process and this one a key derivation: a burst after some quiet seconds is not to
 * open them all again.
 */
const IDLE_CONNECTION_MS = 5 * 60_000;

/** The product's tables. Not connected yet: call `initialize()`. */
export function createDataSource(settings: DatabaseSettings): DataSource {
  return new DataSource({
    type: 'postgres',
    driver: { Pool: DatabasePool },
    url: settings.url,
    applicationName: settings.applicationName,
    poolSize: settings.poolSize,
    connectTimeoutMS: 5000,
    extra: {
      hasTimeouts: settings.hasTimeouts,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      // statements here never gain from a custom plan; planning each time costs as much as running them
      session: { plan_cache_mode: 'force_generic_plan' },
    } satisfies DatabasePoolConfig,
    namingStrategy: new SnakeCaseNaming(),
    // gen_random_uuid() is built into PostgreSQL: no extension to install
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    synchronize: false,
    entities: [
      OrganizationEntity,
      DataKeyEntity,
      UserEntity,
      RefreshTokenEntity,
      ApiKeyEntity,
      CredentialEntity,
      ResourceEntity,
      ResourceHealthEventEntity,
      RoleEntity,
      RoleResourceEntity,
      RoleUserEntity,
      TargetEntity,
      RuleEntity,
      UnmanagedRuleEntity,
      SweeperLeaseEntity,
      WriteProbeEntity,
      WriteBudgetEntity,
      AgentEntity,
      SessionEntity,
      ResourceIpEntity,
      RuleHolderEntity,
      StaticIpRuleEntity,
      IdempotencyKeyEntity,
      SignInFailureEntity,
      MfaChallengeEntity,
      RecoveryCodeEntity,
      AccountTokenEntity,
      KnownDeviceEntity,
      BillingDetailsEntity,
      SubscriptionEntity,
      PaymentEntity,
      PaymentEventEntity,
      AuditRecordEntity,
      AuditSealEntity,
      AuditSealCursorEntity,
      AuditCheckpointEntity,
      AuditExportEntity,
      UnwrittenAuditRecordEntity,
      IdentityKeyEntity,
      GrantVersionEntity,
      OidcTrustEntity,
      OidcUsedTokenEntity,
    ],
    migrations: [
      FirstTables1760000000000,
      AccountsStaticRulesBillingAuditReconcile1770000000000,
      UnwrittenAuditRecords1780100000000,
      Agents1780200000000,
      ListsInFlight1780300000000,
      LiveStateAndLedger1790000000000,
      EndedHoldersAndRules1790000100000,
      RetentionIndexes1790000200000,
      ReportIndexes1790000300000,
      AbandonedResources1790000400000,
      DeletedCredentials1790000500000,
      AgentKeys1790200000000,
      ServiceUsers1790210000000,
      LiveSessionLimits1790220000000,
      SignInsDevicesInvitations1790100000000,
      RefreshTokensByUser1790100100000,
      LedgerUpkeepFunctions1790300000000,
      PromptWrites1790600900000,
      AuditCheckpoints1790300100000,
      SubscriptionEnds1790400000000,
      FlatLists1790600000000,
      HostGuards1790500000000,
      GrantVersions1790700000000,
      AgentWaits1790800000000,
      HistoryRetention1790810000000,
      AuditPartitions1790810100000,
      ReleaseFunctions1790820000000,
      SessionLeases1790900000000,
      SessionTokens1790900100000,
      OidcTrusts1790910000000,
      WrongFamilies1790920000000,
      IdentityKeys1790930000000,
      UnfollowedResourceIps1791010000000,
      SweepHeartbeat1791030000000,
      EndsOfAccess1791040000000,
      OrganizationDeletion1791080000000,
      NoListMarks1791100000000,
    ],
    migrationsTransactionMode: 'each',
  });
}
