import type { Database, Tx } from '#entities';
import type { ChainLink, ExportedRange, TenantStores, TrailRecord } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { auditSealHash, BEFORE_FIRST_RECORD, type CheckpointKeys } from '#secrets';
import { chainSteps, type ChainStep } from './chain-steps';
import { CheckpointProof } from './checkpoint-proof';
import { ExportProblem, type ExportFolder } from './export-folder';

const ROWS_BATCH_SIZE = 1000;

/** A link that was recorded outside of the database and must still be in the chain. */
export interface KeptLink {
  readonly position: bigint;
  readonly hash: string;
}

/** The result of verifying one organization's chain. */
export interface ChainReport {
  /** records in the chain, up to its end or its first break */
  readonly sealed: number;
  /** how many of them are no longer in the database */
  readonly exported: number;
  /** records without a seal; a running worker seals them within seconds */
  readonly unsealed: number;
  /** hash of the last valid link; worth keeping outside of the database */
  readonly lastHash: string;
  /** the position up to which signed checkpoints prove the chain; null: no public key, nothing was compared */
  readonly provenTo: number | null;
  /** the first broken position and why; null when the whole chain is valid */
  readonly broken: string | null;
}

export interface VerifierOptions {
  readonly batchSize?: number;
  /** null: signed checkpoints are not compared */
  readonly keys?: CheckpointKeys | null;
  /** null: what is no longer in the database is not verified */
  readonly exports?: ExportFolder | null;
}

/** Recomputes an organization's chain and compares. Reads in batches, from one snapshot. */
export class ChainVerifier {
  constructor(
    private readonly database: Database,
    private readonly stores: Pick<TenantStores, 'auditChains' | 'auditCheckpoints'>,
    private readonly reportProgress: (checked: number) => void,
    private readonly options: VerifierOptions = {},
  ) {}

  verify(organization: OrganizationId, kept: KeptLink | null = null): Promise<ChainReport> {
    return this.database.transaction(async (tx) => {
      await this.stores.auditChains.useSnapshot(tx);
      const links = await this.checkLinks(tx, organization, kept);
      const trail = await this.checkTrail(tx, organization, links.sealed);
      return { ...links, unsealed: trail.unsealed, broken: links.broken ?? trail.broken };
    });
  }

  private async checkLinks(
    tx: Tx,
    organization: OrganizationId,
    kept: KeptLink | null,
  ): Promise<Omit<ChainReport, 'unsealed'>> {
    let [sealed, exported, lastHash] = [0, 0, BEFORE_FIRST_RECORD];
    const { batchSize = ROWS_BATCH_SIZE, keys = null, exports = null } = this.options;
    const proof = keys && new CheckpointProof(this.stores.auditCheckpoints, tx, organization, keys);
    const steps = chainSteps(tx, this.stores.auditChains, organization, exports, batchSize);
    const brokenReport = (broken: string): Omit<ChainReport, 'unsealed'> => ({
      sealed,
      exported,
      lastHash,
      provenTo: proof && proof.provenTo,
      broken,
    });
    const breakOf = async (step: ChainStep): Promise<string | null | undefined> => {
      if (step.kind === 'link') {
        const { link } = step;
        const broken = breakAt(link, sealed + 1, lastHash) ?? differenceFrom(kept, link);
        return broken ?? proof?.problemAt(link);
      }
      const { range, isRead } = step;
      const end = { sealed, hash: lastHash };
      if (isRead) return endBreak(range, end);
      const broken = beginBreak(range, end) ?? differenceFrom(kept, endOf(range));
      return broken ?? proof?.problemUpTo(endOf(range));
    };
    try {
      for await (const step of steps) {
        const broken = (await breakOf(step)) ?? null;
        if (broken !== null) return brokenReport(broken);
        if (step.kind === 'range') {
          const { firstPosition, lastPosition, hash } = step.range;
          exported += Number(lastPosition) - Number(firstPosition) + 1;
          [sealed, lastHash] = [Number(lastPosition), hash];
        } else {
          [sealed, lastHash] = [sealed + 1, step.link.hash];
          if (sealed % batchSize === 0) this.reportProgress(sealed);
        }
      }
    } catch (error) {
      if (error instanceof ExportProblem) return brokenReport(`position ${sealed + 1}: ${error.message}`);
      throw error;
    }
    this.reportProgress(sealed);
    const isCut = kept !== null && kept.position > BigInt(sealed);
    const broken = isCut
      ? `the chain ends at ${sealed}, before the kept position ${kept.position}`
      : ((await proof?.problemAfter(sealed)) ?? null);
    return { sealed, exported, lastHash, provenTo: proof && proof.provenTo, broken };
  }

  /** An unsealed record before the seal cursor was inserted after the sealer had passed its position. */
  private async checkTrail(
    tx: Tx,
    organization: OrganizationId,
    sealed: number,
  ): Promise<{ unsealed: number; broken: string | null }> {
    let [seen, unsealed] = [0, 0];
    let broken: string | null = null;
    const { batchSize = ROWS_BATCH_SIZE } = this.options;
    const { auditChains } = this.stores;
    let after: TrailRecord | null = null;
    for (;;) {
      const records: TrailRecord[] = await auditChains.trailAfter(tx, organization, after, batchSize);
      for (const record of records) {
        if (record.isSealed) continue;
        unsealed += 1;
        if (record.isPassed)
          broken ??= `record ${record.id} of ${record.timestamp} was put in behind the seals`;
      }
      seen += records.length;
      this.reportProgress(sealed + seen);
      after = records.at(-1) ?? null;
      if (!after || records.length < batchSize) return { unsealed, broken };
    }
  }
}

/** @returns why the link is broken, null when it is valid */
function breakAt(link: ChainLink, position: number, previous: string): string | null {
  if (link.position !== String(position)) {
    return `position ${position} is missing, the chain goes on at ${link.position}`;
  }
  if (!link.record) return `position ${position}: its record is gone`;
  if (auditSealHash(previous, link.record) === link.hash) return null;
  const { id, eventType, timestamp } = link.record;
  return `position ${position}: record ${id} (${eventType} of ${timestamp}) is not what was sealed there`;
}

const endOf = ({ lastPosition, hash }: ExportedRange): Pick<ChainLink, 'position' | 'hash'> => ({
  position: lastPosition,
  hash,
});

/** @param end of the chain so far. @returns why an exported range does not continue it */
function beginBreak(range: ExportedRange, end: { sealed: number; hash: string }): string | null {
  if (range.firstPosition !== String(end.sealed + 1)) {
    return `position ${end.sealed + 1} is missing, the chain goes on with the export at ${range.firstPosition}`;
  }
  if (range.hashBefore === end.hash) return null;
  return `position ${range.firstPosition}: the export that begins there does not continue the chain before it`;
}

/** @returns why an exported range does not end as recorded, after its links were read */
function endBreak(range: ExportedRange, end: { sealed: number; hash: string }): string | null {
  if (range.lastPosition === String(end.sealed) && range.hash === end.hash) return null;
  return `position ${end.sealed}: the export ends there in ${end.hash}, and was recorded to end at ${range.lastPosition} in ${range.hash}`;
}

function differenceFrom(kept: KeptLink | null, link: Pick<ChainLink, 'position' | 'hash'>): string | null {
  if (kept === null || link.position !== String(kept.position) || link.hash === kept.hash) return null;
  return `position ${link.position}: the hash is not the one that was kept, the chain was written anew`;
}
