import { rows, Trial, type Tx } from '#entities';

const OWNERS = [
  ['sessions', 'session_id'],
  ['static_ip_rules', 'static_ip_rule_id'],
] as const;

/**
 * Locks the sessions and static IP rules that own ResourceIps until the transaction ends. Every writer locks owners before
 * it writes rules: this lock order prevents deadlocks between a stop, the sweep and a settlement. A trial writes none.
 * @param ips the FROM clause, with `resource_ips` as `ip`
 * @param given its parameters
 * @returns the ids of the locked ones
 */
export async function lockOwners(
  tx: Tx,
  ips: string,
  given: readonly unknown[],
): Promise<ReadonlySet<string>> {
  if (Trial.current) return new Set();
  const locked = OWNERS.map(
    ([table, column]) =>
      `${table}_locked AS (
         SELECT id FROM ${table} WHERE id IN (SELECT ip.${column} FROM ${ips}) ORDER BY id FOR NO KEY UPDATE)`,
  );
  const ids = OWNERS.map(([table]) => `SELECT id FROM ${table}_locked`);
  const owners = await rows<{ id: string }>(
    tx,
    `WITH ${locked.join(', ')} ${ids.join(' UNION ALL ')}`,
    given,
  );
  return new Set(owners.map(({ id }) => id));
}
