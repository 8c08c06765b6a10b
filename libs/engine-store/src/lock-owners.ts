import type { Tx } from '#entities';

const OWNERS = [
  ['sessions', 'session_id'],
  ['static_ip_rules', 'static_ip_rule_id'],
] as const;

/**
 * Locks the sessions and static IP rules that own ResourceIps until the transaction ends. Every writer locks owners before
 * it writes rules: this lock order prevents deadlocks between a stop, the sweep and a settlement.
 * @param ips the FROM clause, with `resource_ips` as `ip`
 * @param given its parameters
 */
export async function lockOwners(tx: Tx, ips: string, given: readonly unknown[]): Promise<void> {
  for (const [table, column] of OWNERS) {
    await tx.query(
      `SELECT 1 FROM ${table} WHERE id IN (SELECT ip.${column} FROM ${ips}) ORDER BY id FOR NO KEY UPDATE`,
      [...given],
    );
  }
}
