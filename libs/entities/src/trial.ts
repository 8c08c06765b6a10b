import { AsyncLocalStorage } from 'node:async_hooks';
import type { EntityManager } from 'typeorm';
import { isConflict } from './database-faults';

const CURRENT = new AsyncLocalStorage<Trial>();

/**
 * One act that is run and undone. Whatever it asks any `Database` of this process runs in this transaction, so that nothing
 * of it is stored. Stores note here what the act would end and open instead of doing so: that locks live sessions, and rules
 * that are shared with others.
 */
export class Trial {
  /** that would end */
  readonly sessionIds = new Set<string>();
  /** that would be closed or deleted */
  readonly staticIpRuleIds = new Set<string>();
  /** holders of rules that would be released */
  readonly released: { readonly ruleId: string; readonly resourceIpId: string }[] = [];
  /** rules that would be desired, by their places */
  readonly desired: { readonly targetId: string; readonly key: string }[] = [];
  private conflict: Error | null = null;

  constructor(readonly tx: EntityManager) {}

  /** The one that the caller is part of. */
  static get current(): Trial | undefined {
    return CURRENT.getStore();
  }

  /** Runs and undoes the work. Its locks end with it. @throws what it throws, and conflicts that it made a refusal of */
  async undo<T>(work: () => Promise<T>): Promise<T> {
    await this.tx.query('SAVEPOINT trial');
    try {
      const done = await CURRENT.run(this, work);
      // the whole transaction has lost, whatever the work made of it
      if (this.conflict) throw this.conflict;
      return done;
    } finally {
      await this.tx.query('ROLLBACK TO SAVEPOINT trial');
    }
  }

  /** Runs a transaction of the work: what it throws undoes its own part. */
  async step<T>(work: (tx: EntityManager) => Promise<T>): Promise<T> {
    try {
      return await this.tx.transaction(work);
    } catch (error) {
      if (isConflict(error)) this.conflict = error as Error;
      throw error;
    }
  }
}
