import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Ends of intervals that an end's own time does not find: they lasted long, or their beginning or end is not known. */
const LONG = `kind IN ('CLOSED', 'RELEASED', 'MISSING', 'CHANGED', 'ABANDONED')
    AND (possible_from IS NULL OR possible_until IS NULL OR at - possible_from > interval '48 hours')`;

const UP = [
  // of an address on one of several targets, whoever held it
  `CREATE INDEX rule_events_any_address_idx ON rule_events (address, at)`,
  `CREATE INDEX rule_events_holderless_idx ON rule_events (target_id, at) WHERE organization_id IS NULL`,
  `CREATE INDEX rule_events_long_idx ON rule_events (organization_id, at) WHERE organization_id IS NOT NULL AND ${LONG}`,
  `CREATE INDEX rule_events_long_target_idx ON rule_events (target_id, at) WHERE ${LONG}`,
  // what an organization holds now, without reading what has ended
  `CREATE INDEX resource_ips_held_idx ON resource_ips (organization_id, resource_id)
    WHERE status IN ('PENDING', 'APPLIED', 'REMOVING')`,
];

const DOWN = [
  `DROP INDEX resource_ips_held_idx, rule_events_long_target_idx, rule_events_long_idx, rule_events_holderless_idx,
    rule_events_any_address_idx`,
];

/** What reports read by: their cost is that of their window and of what is live, not of all that ever was. */
export class ReportIndexes1790000300000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET LOCAL statement_timeout = 0`);
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
