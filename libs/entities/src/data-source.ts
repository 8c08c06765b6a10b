import { DataSource } from 'typeorm';
import { AuditRecordEntity } from './audit-record.entity';
import { FirstTables1760000000000 } from './migrations/1760000000000-first-tables';
import { DataKeyEntity, OrganizationEntity } from './organization.entity';
import { CredentialEntity, ResourceEntity, ResourceHealthEventEntity } from './resource.entity';
import { RoleEntity, RoleResourceEntity, RoleUserEntity } from './role.entity';
import { ResourceIpEntity, RuleHolderEntity, SessionEntity } from './session.entity';
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
      SessionEntity,
      ResourceIpEntity,
      RuleHolderEntity,
      AuditRecordEntity,
    ],
    migrations: [FirstTables1760000000000],
    migrationsTransactionMode: 'each',
  });
}
