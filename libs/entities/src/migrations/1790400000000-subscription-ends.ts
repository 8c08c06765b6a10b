import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which periods are over, and when the next one is, without a look at the others. */
export class SubscriptionEnds1790400000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX subscriptions_ends_idx ON subscriptions (least(current_period_end, grace_period_end))
       WHERE status <> 'EXPIRED'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX subscriptions_ends_idx');
  }
}
