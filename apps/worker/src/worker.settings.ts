import { IsNotEmpty, IsOptional } from 'class-validator';
import { ServiceSettings, toList, wholeNumber } from '#config';
import { AreTenantNetworks } from '#drivers';
import { AreMasterKeys } from '#secrets';

/** The environment of the worker. Property names are variable names. */
export class WorkerSettings extends ServiceSettings {
  @AreMasterKeys()
  MASTER_KEYS!: string;

  @wholeNumber(1, 500)
  WORKER_CONCURRENCY = 40;

  /** interval of the comparison of each target with the database */
  @wholeNumber(5, 86_400)
  RECONCILE_SECONDS = 45;

  /** how long after its end a month of the ledger is dropped */
  @wholeNumber(1, 120)
  LEDGER_RETENTION_MONTHS = 24;

  @wholeNumber(1, 3650)
  HEALTH_EVENT_RETENTION_DAYS = 400;

  /** how long after its end a session is deleted; 0: never */
  @wholeNumber(0, 36_500)
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
