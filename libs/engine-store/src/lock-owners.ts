import { Trial, type Tx } from '#entities';

const OWNERS = [
  ['sessions', 'session_id'],
  ['static_ip_rules', 'static_ip_rule_id'],
] as const;

/**
 * Locks the sessions and static IP rules that own ResourceIps until the transaction ends. Every writer locks owners before
 * it writes rules: this lock order prevents deadlocks between a stop, the sweep and a settlement. A trial writes none.
 * @param ips the FROM clause, with `resource_ips` as `ip`
 * @param given its parameters
 */
export async function lockOwners(tx: Tx, ips: string, given: readonly unknown[]): Promise<void> {
  if (Trial.current) return;
  const locked = OWNERS.map(
    ([table, column]) =>
      `${table}_locked AS (
         SELECT 1 FROM ${table} WHERE id IN (SELECT ip.${column} FROM ${ips}) ORDER BY id FOR NO KEY UPDATE)`,
  );
  const counts = OWNERS.map(([table]) => `(SELECT count(*) FROM ${table}_locked)`);
  await tx.query(`WITH ${locked.join(', ')} SELECT ${counts.join(', ')}`, [...given]);
}
