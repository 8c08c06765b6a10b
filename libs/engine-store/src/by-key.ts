/**
 * A row looked up by its id, for `CROSS JOIN LATERAL`. `OFFSET 0` keeps the planner from joining the whole table
 * instead, which it prefers while a new table has no statistics: seconds instead of milliseconds.
 */
export const byKey = (table: 'resource_ips' | 'rules', id: string): string =>
  `(SELECT * FROM ${table} WHERE id = ${id} OFFSET 0)`;
