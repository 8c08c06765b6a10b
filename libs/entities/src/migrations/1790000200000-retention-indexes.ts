import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Each name with what follows `ON`. */
const INDEXES = {
  resource_health_events_created_at_idx: 'resource_health_events (created_at, id)',
  // for which of a resource's verifications, and which of its reconciliations, is the newest
  resource_health_events_kind_idx: `resource_health_events
    (resource_id, (event_type IN ('VERIFY_OK', 'VERIFY_FAILED')), created_at, id)`,
  refresh_tokens_expires_at_idx: 'refresh_tokens (expires_at)',
  account_tokens_expires_at_idx: 'account_tokens (expires_at)',
  mfa_challenges_expires_at_idx: 'mfa_challenges (expires_at)',
  sign_in_failures_last_failed_at_idx: 'sign_in_failures (last_failed_at)',
} as const;

/** Without them, deleting old rows reads the whole table. Built beside its writers, which takes no transaction. */
export class RetentionIndexes1790000200000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, on] of Object.entries(INDEXES)) {
      // one that was interrupted leaves an index that is not valid
      await runner.query(`DROP INDEX IF EXISTS ${name}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${on}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of Object.keys(INDEXES)) await runner.query(`DROP INDEX IF EXISTS ${name}`);
  }
}
