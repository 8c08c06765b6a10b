import type { Logger } from 'pino';
import type { Database, Tx } from '#entities';
import { AuditChainStore, type Seal, type SealPosition, type SealableRecord } from '#tenant-store';
import { auditSealHash, BEFORE_FIRST_RECORD } from '#secrets';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 1000;
const RECORDS_BATCH_SIZE = 1000;
const MAX_BATCHES = 50;
const BEGINNING: SealPosition = { transactionId: '0', sequence: '0' };

/**
 * Seals the audit records that are complete, each into its organization's chain. Any number of workers may have one;
 * the cursor's row lets one at a time.
 */
export class AuditSealer {
  constructor(
    private readonly database: Database,
    private readonly chain: AuditChainStore,
    private readonly log: Logger,
  ) {}

  /** Seals what there is; of a great backlog a part, so that it can be stopped in between. */
  async sealMany(): Promise<void> {
    for (let batches = 0; batches < MAX_BATCHES; batches += 1) {
      if ((await this.sealNext()) < RECORDS_BATCH_SIZE) return;
    }
  }

  /**
   * Seals the next records.
   * @returns how many it went through; less than `most`: none is left
   */
  async sealNext(most = RECORDS_BATCH_SIZE): Promise<number> {
    if (!(await this.chain.isBehind(this.database.autocommit))) return 0;
    return this.database.transaction(async (tx) => {
      const cursor = await this.chain.takeCursor(tx);
      if (!cursor) return 0;
      if (cursor.isAhead) return this.startOver(tx, most);
      const seen = await this.chain.recordsAfter(tx, 'finished-transactions', cursor, most);
      await this.append(tx, seen);
      const last = seen.at(-1)?.record;
      if (last) await this.chain.moveCursor(tx, last);
      return seen.length;
    });
  }

  /**
   * The records come from another cluster, where transactions had come further. Those are sealed now, as this
   * cluster may be years from their transactions; the others are walked through again from the beginning.
   * @returns `most`: there is more to do
   */
  private async startOver(tx: Tx, most: number): Promise<number> {
    this.log.warn('The audit trail was restored from another PostgreSQL cluster: sealing starts over');
    for (let position = BEGINNING; ;) {
      const seen = await this.chain.recordsAfter(tx, 'restored-transactions', position, most);
      await this.append(tx, seen);
      if (seen.length < most) break;
      position = seen.at(-1)!.record;
    }
    await this.chain.moveCursor(tx, BEGINNING);
    return most;
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
        hash: auditSealHash(hash, record),
      };
      ends.set(organizationId, seal);
      return seal;
    });
    await this.chain.append(tx, seals);
  }
}

/** Seals once a second, never while a request waits. */
export function auditSealing(database: Database, log: Logger): RepeatedTask {
  const sealer = new AuditSealer(database, new AuditChainStore(), log);
  return new RepeatedTask('seal audit records', INTERVAL_MS, () => sealer.sealMany(), log);
}
