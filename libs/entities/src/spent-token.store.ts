import { returned, type Tx } from './database';

/** What can sign nobody in any more, of every organization, is kept for a day: whoever looks into a fault may need it. */
const SPENT: readonly (readonly [table: string, spent: string])[] = [
  ['refresh_tokens', `expires_at < now() - interval '1 day'`],
  ['account_tokens', `expires_at < now() - interval '1 day'`],
  ['mfa_challenges', `expires_at < now() - interval '1 day'`],
  ['sign_in_failures', `last_failed_at < now() - interval '1 day'`],
];

/** Deletes what has run out, for all organizations at once. */
export class SpentTokenStore {
  /** @returns how many rows went */
  async deleteSpent(tx: Tx): Promise<number> {
    let count = 0;
    for (const [table, spent] of SPENT) {
      count += returned<object>(await tx.query(`DELETE FROM ${table} WHERE ${spent} RETURNING 1`)).length;
    }
    return count;
  }
}
