import type { Tx } from '#entities';

/** What the installation marks its rules with: an id of its own that the first migration made, or one that operators gave. */
export class DeploymentIdStore {
  /**
   * The kept id. A given one replaces the made one until services have started, and marked rules with it.
   * @param given by the operator; null: none is
   */
  async keep(tx: Tx, given: string | null): Promise<string> {
    await tx.query(
      `INSERT INTO deployment AS kept (id, deployment_id, is_used, rule_id_seed)
       VALUES (1, coalesce($1, own_deployment_id()), true, gen_random_uuid())
       ON CONFLICT (id) DO UPDATE SET deployment_id = coalesce($1, kept.deployment_id), is_used = true
       WHERE NOT kept.is_used`,
      [given],
    );
    return this.find(tx);
  }

  async find(tx: Tx): Promise<string> {
    const [kept] = await tx.query<{ id: string }[]>('SELECT deployment_id AS id FROM deployment');
    return kept!.id;
  }

  /** Marks rules with another id from now on. What was marked before is ours by its recorded id. */
  async adopt(tx: Tx, id: string): Promise<void> {
    await tx.query('UPDATE deployment SET deployment_id = $1, is_used = true', [id]);
  }
}
