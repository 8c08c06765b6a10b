import { SettingsError } from '#config';
import type { DeploymentIdStore } from '#engine-store';
import type { Tx } from '#entities';

/** What this installation marks its rules with. */
export class DeploymentId {
  private constructor(readonly value: string) {}

  /**
   * @param given in the environment
   * @throws SettingsError when it is not the one that the database keeps: its rules would be taken for those of others
   */
  static async keep(tx: Tx, store: DeploymentIdStore, given: string | undefined): Promise<DeploymentId> {
    const kept = await store.keep(tx, given ?? null);
    if (given === undefined || given === kept) return new DeploymentId(kept);
    throw new SettingsError([
      `DEPLOYMENT_ID must be ${kept}, the id that this database keeps, or be left out; drawbridge-admin deployment-id --adopt ${given} makes the other one its id`,
    ]);
  }
}
