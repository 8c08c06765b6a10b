import type { Database, Tx } from '#entities';
import type { AuditChainStore, ChainLink, TrailRecord } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { auditSealHash, BEFORE_FIRST_RECORD, type CheckpointKeys } from '#secrets';
import { CheckpointProof } from './checkpoint-proof';

const ROWS_BATCH_SIZE = 1000;
const BEFORE_ALL = String(-(2n ** 63n));

/** A link that was recorded outside of the database and must still be in the chain. */
export interface KeptLink {
  readonly position: bigint;
  readonly hash: string;
}

/** The result of verifying one organization's chain. */
export interface ChainReport {
  /** records in the chain, up to its end or its first break */
  readonly sealed: number;
  /** records without a seal; a running worker seals them within seconds */
  readonly unsealed: number;
  /** hash of the last valid link; worth keeping outside of the database */
  readonly lastHash: string;
  /** the position up to which signed checkpoints prove the chain; null: no public key, nothing was compared */
  readonly provenTo: number | null;
  /** the first broken position and why; null when the whole chain is valid */
  readonly broken: string | null;
}

/** Recomputes an organization's chain and compares. Reads in batches, from one snapshot. */
export class ChainVerifier {
  constructor(
    private readonly database: Database,
    private readonly chain: AuditChainStore,
    private readonly reportProgress: (checked: number) => void,
    private readonly batchSize = ROWS_BATCH_SIZE,
    /** null: signed checkpoints are not compared */
    private readonly keys: CheckpointKeys | null = null,
  ) {}

  verify(organization: OrganizationId, kept: KeptLink | null = null): Promise<ChainReport> {
    return this.database.transaction(async (tx) => {
      await this.chain.useSnapshot(tx);
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
    let [sealed, lastHash, after] = [0, BEFORE_FIRST_RECORD, BEFORE_ALL];
    const proof = this.keys && new CheckpointProof(tx, organization, this.keys);
    for (;;) {
      const links = await this.chain.linksAfter(tx, organization, after, this.batchSize);
      for (const link of links) {
        const broken =
          breakAt(link, sealed + 1, lastHash) ??
          differenceFrom(kept, link) ??
          (await proof?.problemAt(link)) ??
          null;
        const provenTo = proof && proof.provenTo;
        if (broken !== null) return { sealed, lastHash, provenTo, broken };
        sealed += 1;
        lastHash = link.hash;
      }
      this.reportProgress(sealed);
      const last = links.at(-1);
      if (!last || links.length < this.batchSize) break;
      after = last.position;
    }
    const isCut = kept !== null && kept.position > BigInt(sealed);
    const broken = isCut
      ? `the chain ends at ${sealed}, before the kept position ${kept.position}`
      : ((await proof?.problemAfter(sealed)) ?? null);
    return { sealed, lastHash, provenTo: proof && proof.provenTo, broken };
  }

  /** An unsealed record before the seal cursor was inserted after the sealer had passed its position. */
  private async checkTrail(
    tx: Tx,
    organization: OrganizationId,
    sealed: number,
  ): Promise<{ unsealed: number; broken: string | null }> {
    let [seen, unsealed] = [0, 0];
    let broken: string | null = null;
    let after: TrailRecord | null = null;
    for (;;) {
      const records: TrailRecord[] = await this.chain.trailAfter(tx, organization, after, this.batchSize);
      for (const record of records) {
        if (record.isSealed) continue;
        unsealed += 1;
        if (record.isPassed)
          broken ??= `record ${record.id} of ${record.timestamp} was put in behind the seals`;
      }
      seen += records.length;
      this.reportProgress(sealed + seen);
      after = records.at(-1) ?? null;
      if (!after || records.length < this.batchSize) return { unsealed, broken };
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

function differenceFrom(kept: KeptLink | null, link: ChainLink): string | null {
  if (kept === null || link.position !== String(kept.position) || link.hash === kept.hash) return null;
  return `position ${link.position}: the hash is not the one that was kept, the chain was written anew`;
}
