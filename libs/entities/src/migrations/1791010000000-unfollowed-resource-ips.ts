import type { MigrationInterface, QueryRunner } from 'typeorm';
import { lockTables } from '../table-locks';
import { ROLLOUT } from './1790000000000-live-state-and-ledger';

/**
 * No trigger releases holders any more on behalf of processes from before the ledger. A setting of the session told it which
 * processes those are: where a pooler dropped the setting, it released the holders of every stop, and no rule was removed.
 */
export class UnfollowedResourceIps1791010000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await lockTables(runner, ['resource_ips']);
    await runner.query('DROP TRIGGER resource_ips_followed ON resource_ips');
    await runner.query('DROP FUNCTION follow_resource_ip');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of ROLLOUT) await runner.query(statement);
  }
}
