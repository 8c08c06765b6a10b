import type { Instant, Rule, Times } from '#rules';
import { returned, type Tx } from '#entities';

/** Locked rules of one target, with the times that their moves need. */
export interface LockedRules extends Times {
  readonly rules: readonly Rule[];
  /** when they were read: not before anything that was computed before the call */
  readonly readAt: Instant;
}

/** The columns of `Rule` besides its id. */
const TEXTS = ['state', 'last_error', 'provider_rule_id', 'region', 'cause'];
const IDS = ['credential_id'];
const COUNTS = ['revision', 'offered_revision', 'attempts', 'lost_count'];
const FLAGS = ['closing', 'is_unmanaged', 'is_unmarked', 'is_missing', 'is_suspended'];
const TIMES = [
  'due_at',
  'in_flight_until',
  'target_missing_since',
  'lost_at',
  'unwanted_since',
  'overdue_at',
  'possible_since',
  'present_since',
  'observed_at',
  'removal_sent_at',
  'offered_until',
];

const nameOf = (column: string): string =>
  column.replaceAll(/_(?<letter>[a-z])/g, (_, letter: string) => letter.toUpperCase());

/** SQL: ms since 1970 with microseconds, which a float holds exactly. */
const ms = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::float8`;
const moment = (time: string): string =>
  `timestamptz 'epoch' + round(${time} * 1000) * interval '1 microsecond'`;

const COLUMNS = [
  'r.id',
  ...[...TEXTS, ...IDS, ...COUNTS, ...FLAGS].map((column) => `r.${column} AS "${nameOf(column)}"`),
  ...TIMES.map((column) => `${ms(`r.${column}`)} AS "${nameOf(column)}"`),
].join(', ');

const GIVEN = [
  'id uuid',
  ...TEXTS.map((column) => `"${nameOf(column)}" text`),
  ...IDS.map((column) => `"${nameOf(column)}" uuid`),
  ...COUNTS.map((column) => `"${nameOf(column)}" int`),
  ...FLAGS.map((column) => `"${nameOf(column)}" boolean`),
  ...TIMES.map((column) => `"${nameOf(column)}" float8`),
].join(', ');

const SET = [
  ...[...TEXTS, ...IDS, ...COUNTS, ...FLAGS].map((column) => `${column} = s."${nameOf(column)}"`),
  ...TIMES.map((column) => `${column} = ${moment(`s."${nameOf(column)}"`)}`),
].join(', ');

/** Loads and saves rules whole. What they become is decided by `ruleLife`. */
export class RuleStore {
  /** Locks rules of one target until the transaction ends, in the order in which all writers lock them. */
  async lock(tx: Tx, targetId: string, ruleIds: readonly string[]): Promise<LockedRules> {
    return this.locked(tx, targetId, 'AND r.id = ANY ($2::uuid[])', [ruleIds]);
  }

  /** Locks every rule of a target that is not absent, or waits for its next pass. */
  async lockAll(tx: Tx, targetId: string): Promise<LockedRules> {
    return this.locked(tx, targetId, `AND (r.state <> 'absent' OR r.due_at IS NOT NULL)`, []);
  }

  private async locked(
    tx: Tx,
    targetId: string,
    condition: string,
    given: readonly unknown[],
  ): Promise<LockedRules> {
    const [found] = await tx.query<LockedRules[]>(
      `WITH locked AS (
         SELECT r.* FROM rules r WHERE r.target_id = $1 ${condition} ORDER BY r.id FOR NO KEY UPDATE
       )
       SELECT ${ms('now()')} AS now, ${ms('statement_timestamp()')} AS "readAt", ${ms('t.compared_at')} AS "comparedAt",
         ARRAY(SELECT to_jsonb(rule) FROM (SELECT ${COLUMNS} FROM locked r ORDER BY r.id) rule) AS rules
       FROM targets t WHERE t.id = $1`,
      [targetId, ...given],
    );
    return found!;
  }

  /** Writes rules as they are now. Call it in the transaction that locked them. */
  async save(tx: Tx, rules: readonly Rule[]): Promise<void> {
    if (rules.length === 0) return;
    await tx.query(
      `UPDATE rules r SET ${SET} FROM jsonb_to_recordset($1::jsonb) AS s(${GIVEN}) WHERE r.id = s.id`,
      [JSON.stringify(rules)],
    );
  }

  /** Deletes those of these rules that nobody holds. @returns their ids */
  async deleteUnheld(tx: Tx, ruleIds: readonly string[]): Promise<string[]> {
    if (ruleIds.length === 0) return [];
    const deleted = returned<{ id: string }>(
      await tx.query(
        `DELETE FROM rules r WHERE id = ANY ($1::uuid[])
           AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id) RETURNING id`,
        [ruleIds],
      ),
    );
    return deleted.map(({ id }) => id);
  }
}
