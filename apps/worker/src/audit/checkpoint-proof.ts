import type { Tx } from '#entities';
import type { AuditCheckpointStore, ChainLink, StoredCheckpoint } from '#tenant-store';
import type { OrganizationId } from '#rules';
import type { CheckpointKeys } from '#secrets';

const ROWS_BATCH_SIZE = 1000;
/** A worker signs every hour. */
const MAX_UNSIGNED_MS = 2 * 60 * 60 * 1000;

/** Compares an organization's chain with its signed checkpoints while the chain is read from its beginning. */
export class CheckpointProof {
  /** The last position at which chain and checkpoint agree. */
  provenTo = 0;
  private ahead: StoredCheckpoint[] = [];
  private readTo = '0';
  private hasMore = true;
  /** time of the first record after `provenTo` */
  private unsignedSince: string | null = null;

  constructor(
    private readonly store: AuditCheckpointStore,
    private readonly tx: Tx,
    private readonly organization: OrganizationId,
    private readonly keys: CheckpointKeys,
  ) {}

  /** @param link the next valid link of the chain. @returns why its checkpoint is invalid, null when it is valid */
  async problemAt({ position, hash, record }: ChainLink): Promise<string | null> {
    const next = await this.peek();
    if (next?.position !== position) {
      this.unsignedSince ??= record?.timestamp ?? null;
      return null;
    }
    this.ahead.shift();
    const problem = this.keys.problemOf(next);
    if (problem !== null) return `position ${position}: the checkpoint of ${next.signedAt} ${problem}`;
    if (next.hash !== hash) {
      return `position ${position}: the hash is not the one signed at ${next.signedAt}, the chain was rewritten after position ${this.provenTo}`;
    }
    this.provenTo = Number(position);
    this.unsignedSince = null;
    return null;
  }

  /**
   * Passes over links that are not read.
   * @param end the last of them. @returns why a checkpoint is invalid, null when all are valid
   */
  async problemUpTo(end: Pick<ChainLink, 'position' | 'hash'>): Promise<string | null> {
    for (;;) {
      const next = await this.peek();
      if (!next || BigInt(next.position) >= BigInt(end.position)) break;
      const problem = this.keys.problemOf(next);
      if (problem !== null) return `position ${next.position}: the checkpoint of ${next.signedAt} ${problem}`;
      this.ahead.shift();
    }
    return this.problemAt({ ...end, record: null });
  }

  /** @param end last position of a valid chain. @returns why the chain is incomplete, null when it is complete */
  async problemAfter(end: number): Promise<string | null> {
    const next = await this.peek();
    if (next) {
      const problem = this.keys.problemOf(next);
      if (problem !== null) return `position ${next.position}: the checkpoint of ${next.signedAt} ${problem}`;
      return `the chain ends at ${end}, before position ${next.position}, which was signed at ${next.signedAt}`;
    }
    const { unsignedSince } = this;
    if (unsignedSince === null || Date.now() - Date.parse(unsignedSince) < MAX_UNSIGNED_MS) return null;
    return `nothing was signed after position ${this.provenTo}, though records since ${unsignedSince} are sealed: checkpoints were removed, or no worker signs`;
  }

  private async peek(): Promise<StoredCheckpoint | null> {
    if (this.ahead.length === 0 && this.hasMore) {
      this.ahead = await this.store.after(this.tx, this.organization, this.readTo, ROWS_BATCH_SIZE);
      this.hasMore = this.ahead.length === ROWS_BATCH_SIZE;
      this.readTo = this.ahead.at(-1)?.position ?? this.readTo;
    }
    return this.ahead[0] ?? null;
  }
}
