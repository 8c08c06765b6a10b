import { IsInt, IsNotEmpty, IsOptional, Max, Min } from 'class-validator';
import { ServiceSettings, toInteger, toList } from '#config';
import { AreTenantNetworks } from '#drivers';
import { AreMasterKeys } from '#secrets';

/** The environment of the worker. Property names are variable names. */
export class WorkerSettings extends ServiceSettings {
  @AreMasterKeys()
  MASTER_KEYS!: string;

  @toInteger()
  @IsInt({ message: 'WORKER_CONCURRENCY must be a whole number' })
  @Min(1, { message: 'WORKER_CONCURRENCY must be at least 1' })
  @Max(500, { message: 'WORKER_CONCURRENCY must be at most 500' })
  WORKER_CONCURRENCY = 40;

  /** interval of the comparison of each target with the database */
  @toInteger()
  @IsInt({ message: 'RECONCILE_SECONDS must be a whole number' })
  @Min(5, { message: 'RECONCILE_SECONDS must be at least 5' })
  @Max(86_400, { message: 'RECONCILE_SECONDS must be at most 86400' })
  RECONCILE_SECONDS = 45;

  /** how long after its end a month of the ledger is dropped */
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

  /** how long after its end a session is deleted; 0: never */
  @toInteger()
  @IsInt({ message: 'SESSION_RETENTION_DAYS must be a whole number' })
  @Min(0, { message: 'SESSION_RETENTION_DAYS must be at least 0' })
  @Max(36_500, { message: 'SESSION_RETENTION_DAYS must be at most 36500' })
  SESSION_RETENTION_DAYS = 0;

  /** path of the private key that signs the ends of the audit chains; unset: nothing is signed */
  @IsOptional()
  @IsNotEmpty({ message: 'AUDIT_SIGNING_KEY_FILE must be the path of a file' })
  AUDIT_SIGNING_KEY_FILE?: string;

  /** private networks that a tenant's URL may point to, for example an APISIX gateway next to this service */
  @toList()
  @AreTenantNetworks()
  TENANT_URL_NETWORKS: readonly string[] = [];
}
