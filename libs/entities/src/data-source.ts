import type { Client } from 'pg';
import { DataSource } from 'typeorm';
import { AgentEntity } from './agent.entity';
import {
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
import { FirstTables1760000000000 } from './migrations/1760000000000-first-tables';
import { AccountsStaticRulesBillingAuditReconcile1770000000000 } from './migrations/1770000000000-accounts-static-rules-billing-audit-reconcile';
import { UnwrittenAuditRecords1780100000000 } from './migrations/1780100000000-unwritten-audit-records';
import { Agents1780200000000 } from './migrations/1780200000000-agents';
import { ListsInFlight1780300000000 } from './migrations/1780300000000-lists-in-flight';
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
  MfaChallengeEntity,
  RecoveryCodeEntity,
  SignInFailureEntity,
} from './sign-in.entity';
import { SnakeCaseNaming } from './snake-case-naming';
import { RuleEntity, TargetEntity, WriteBudgetEntity } from './target.entity';
import { ApiKeyEntity, RefreshTokenEntity, UserEntity } from './user.entity';

export interface DatabaseSettings {
  readonly url: string;
  readonly applicationName: string;
  /** most connections this process opens */
  readonly poolSize: number;
}

/** The product's tables. Not connected yet: call `initialize()`. */
export function createDataSource(settings: DatabaseSettings): DataSource {
  return new DataSource({
    type: 'postgres',
    url: settings.url,
    applicationName: settings.applicationName,
    poolSize: settings.poolSize,
    connectTimeoutMS: 5000,
    extra: {
      statement_timeout: 15_000,
      query_timeout: 20_000,
      idle_in_transaction_session_timeout: 15_000,
      // Statements here never gain from a plan for their values; making one each time costs as much as running it.
      options: '-c plan_cache_mode=force_generic_plan',
      // one that dies before anybody holds it would end the process: the next statement tells of it
      onConnect: (client: Client) => void client.on('error', () => undefined),
    },
    namingStrategy: new SnakeCaseNaming(),
    // gen_random_uuid() is PostgreSQL's own: no extension to install
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
      BillingDetailsEntity,
      SubscriptionEntity,
      PaymentEntity,
      PaymentEventEntity,
      AuditRecordEntity,
      AuditSealEntity,
      AuditSealCursorEntity,
      UnwrittenAuditRecordEntity,
    ],
    migrations: [
      FirstTables1760000000000,
      AccountsStaticRulesBillingAuditReconcile1770000000000,
      UnwrittenAuditRecords1780100000000,
      Agents1780200000000,
      ListsInFlight1780300000000,
    ],
    migrationsTransactionMode: 'each',
  });
}
