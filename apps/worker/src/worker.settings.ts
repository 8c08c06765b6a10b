import { IsIn, IsInt, IsOptional, Matches, Max, Min, ValidateBy } from 'class-validator';
import { POSTGRES_URL, POSTGRES_URL_WORDS, REDIS_URL, REDIS_URL_WORDS, toInteger, toList } from '#config';
import { canonicalCidr } from '#rules';
import { AreMasterKeys } from '#secrets';

const areCidrs = (list: unknown): boolean =>
  Array.isArray(list) && list.every((item) => canonicalCidr(String(item)) !== null);

export class WorkerSettings {
  @Matches(POSTGRES_URL, { message: `DATABASE_URL must be ${POSTGRES_URL_WORDS}` })
  DATABASE_URL!: string;

  @IsOptional()
  @Matches(REDIS_URL, { message: `REDIS_URL must be ${REDIS_URL_WORDS}` })
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

  /** between two comparisons of one cloud object with the database */
  @toInteger()
  @IsInt({ message: 'RECONCILE_SECONDS must be a whole number' })
  @Min(5, { message: 'RECONCILE_SECONDS must be at least 5' })
  @Max(86_400, { message: 'RECONCILE_SECONDS must be at most 86400' })
  RECONCILE_SECONDS = 45;

  /** private networks that a URL of a tenant may lead to: an APISIX gateway beside this service */
  @toList()
  @ValidateBy(
    { name: 'areCidrs', validator: { validate: areCidrs } },
    { message: 'TENANT_URL_NETWORKS must be a comma-separated list of addresses and CIDR ranges' },
  )
  TENANT_URL_NETWORKS: readonly string[] = [];

  /** where operators and probes reach this process; unset: nowhere */
  @IsOptional()
  @toInteger()
  @IsInt({ message: 'METRICS_PORT must be a whole number' })
  @Min(0, { message: 'METRICS_PORT must be 0 to 65535' })
  @Max(65_535, { message: 'METRICS_PORT must be 0 to 65535' })
  METRICS_PORT?: number;

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace'], {
    message: 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace',
  })
  LOG_LEVEL = 'info';
}
