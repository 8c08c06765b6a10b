import { IsIn, IsInt, IsIP, IsNotEmpty, IsOptional, Matches, Max, Min } from 'class-validator';
import {
  LISTEN_ADDRESS_MESSAGE,
  POSTGRES_URL,
  POSTGRES_URL_MESSAGE,
  REDIS_URL,
  REDIS_URL_MESSAGE,
  toInteger,
  toList,
} from '#config';
import { AreTenantNetworks } from '#drivers';
import { AreMasterKeys } from '#secrets';

export class WorkerSettings {
  @Matches(POSTGRES_URL, { message: `DATABASE_URL must be ${POSTGRES_URL_MESSAGE}` })
  DATABASE_URL!: string;

  @IsOptional()
  @Matches(REDIS_URL, { message: `REDIS_URL must be ${REDIS_URL_MESSAGE}` })
  REDIS_URL?: string;

  @AreMasterKeys()
  MASTER_KEYS!: string;

  @Matches(/^[a-z0-9-]{1,32}$/, { message: 'DEPLOYMENT_ID must be 1 to 32 characters of a-z, 0-9 and -' })
  DEPLOYMENT_ID = 'default';

  @toInteger()
  @IsInt({ message: 'WORKER_CONCURRENCY must be a whole number' })
  @Min(1, { message: 'WORKER_CONCURRENCY must be at least 1' })
  @Max(500, { message: 'WORKER_CONCURRENCY must be at most 500' })
  WORKER_CONCURRENCY = 40;

  /** between two comparisons of one target with the database */
  @toInteger()
  @IsInt({ message: 'RECONCILE_SECONDS must be a whole number' })
  @Min(5, { message: 'RECONCILE_SECONDS must be at least 5' })
  @Max(86_400, { message: 'RECONCILE_SECONDS must be at most 86400' })
  RECONCILE_SECONDS = 45;

  /** a month of the ledger is dropped when it ended so long ago */
  @toInteger()
  @IsInt({ message: 'LEDGER_RETENTION_MONTHS must be a whole number' })
  @Min(1, { message: 'LEDGER_RETENTION_MONTHS must be at least 1' })
  @Max(120, { message: 'LEDGER_RETENTION_MONTHS must be at most 120' })
  LEDGER_RETENTION_MONTHS = 24;

  @toInteger()
  @IsInt({ message: 'HEALTH_EVENT_RETENTION_DAYS must be a whole number' })
  @Min(1, { message: 'HEALTH_EVENT_RETENTION_DAYS must be at least 1' })
  @Max(3650, { message: 'HEALTH_EVENT_RETENTION_DAYS must be at most 3650' })
  HEALTH_EVENT_RETENTION_DAYS = 400;

  /** the private key that signs the ends of the audit chains; unset: nothing is signed */
  @IsOptional()
  @IsNotEmpty({ message: 'AUDIT_SIGNING_KEY_FILE must be the path of a file' })
  AUDIT_SIGNING_KEY_FILE?: string;

  /** private networks that a URL of a tenant may lead to: an APISIX gateway beside this service */
  @toList()
  @AreTenantNetworks()
  TENANT_URL_NETWORKS: readonly string[] = [];

  /** where operators and probes reach this process; unset: nowhere */
  @IsOptional()
  @toInteger()
  @IsInt({ message: 'METRICS_PORT must be a whole number' })
  @Min(0, { message: 'METRICS_PORT must be 0 to 65535' })
  @Max(65_535, { message: 'METRICS_PORT must be 0 to 65535' })
  METRICS_PORT?: number;

  /** the address METRICS_PORT is opened on */
  @IsIP(undefined, { message: `METRICS_HOST must be ${LISTEN_ADDRESS_MESSAGE}` })
  METRICS_HOST = '127.0.0.1';

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace'], {
    message: 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace',
  })
  LOG_LEVEL = 'info';
}
