import type { Logger } from 'pino';
import type { Database, Tx } from '#entities';
import type { AuditChainStore, Seal, SealPosition, SealableRecord } from '#tenant-store';
import { auditSealHash, BEFORE_FIRST_RECORD } from '#secrets';
import type { RepeatedTask, TaskParts } from '../repeated-task';
import { batchedTask } from '../batched-task';

const INTERVAL_MS = 1000;
const RECORDS_BATCH_SIZE = 1000;
const BEGINNING: SealPosition = { transactionId: '0', sequence: '0' };

/**
 * Seals complete audit records, each into its organization's chain. Any number of workers may run one; the lock on the
 * cursor's row serializes them.
 */
export class AuditSealer {
  constructor(
    private readonly database: Database,
    private readonly chain: AuditChainStore,
    private readonly log: Logger,
  ) {}

  /**
   * Seals the next batch.
   * @returns how many records it processed; fewer than `limit`: none is left
   */
  async sealNext(limit = RECORDS_BATCH_SIZE): Promise<number> {
    if (!(await this.chain.isBehind(this.database.autocommit))) return 0;
    return this.database.transaction(async (tx) => {
      const cursor = await this.chain.takeCursor(tx);
      if (!cursor) return 0;
      if (cursor.isAhead) return this.restart(tx, limit);
      const seen = await this.chain.recordsAfter(tx, 'finished-transactions', cursor, limit);
      await this.append(tx, seen);
      const last = seen.at(-1)?.record;
      if (last) await this.chain.moveCursor(tx, last);
      return seen.length;
    });
  }

  /**
   * The records were restored from a cluster with higher transaction ids. Records with ids this cluster has not reached
   * are sealed now, as it may take years to get there; the others are processed again from the beginning.
   * @returns `limit`: more is left
   */
  private async restart(tx: Tx, limit: number): Promise<number> {
    this.log.warn('The audit trail was restored from another PostgreSQL cluster: sealing starts over');
    for (let position = BEGINNING; ;) {
      const seen = await this.chain.recordsAfter(tx, 'restored-transactions', position, limit);
      await this.append(tx, seen);
      if (seen.length < limit) break;
      position = seen.at(-1)!.record;
    }
    await this.chain.moveCursor(tx, BEGINNING);
    return limit;
  }

  private async append(
    tx: Tx,
    seen: readonly { readonly record: SealableRecord; readonly isSealed: boolean }[],
  ): Promise<void> {
    const records = seen.filter(({ isSealed }) => !isSealed).map(({ record }) => record);
    if (records.length === 0) return;
    const organizationIds = [...new Set(records.map((record) => record.organizationId))];
    const ends = new Map(
      (await this.chain.ends(tx, organizationIds)).map((end) => [end.organizationId, end]),
    );
    const seals = records.map((record): Seal => {
      const { id: recordId, organizationId } = record;
      const { position, hash } = ends.get(organizationId) ?? { position: '0', hash: BEFORE_FIRST_RECORD };
      const seal = {
        organizationId,
        position: String(BigInt(position) + 1n),
        recordId,
        recordedAt: record.timestamp,
        hash: auditSealHash(hash, record),
      };
      ends.set(organizationId, seal);
      return seal;
    });
    await this.chain.append(tx, seals);
  }
}

/** Seals once a second, outside of requests. */
export function auditSealing({ database, stores, log }: TaskParts): RepeatedTask {
  const sealer = new AuditSealer(database, stores.auditChains, log);
  return batchedTask('seal audit records', INTERVAL_MS, (limit) => sealer.sealNext(limit), log);
}
