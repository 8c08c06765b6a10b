import type { Database } from '#entities';
import type { OrganizationId } from '#rules';
import { auditSealHash } from '#secrets';
import type { AuditExportStore, ChainLink, ExportedRange, ExpiredMonth, PositionSpan } from '#tenant-store';
import { type ExportFile, type ExportFolder, ExportProblem } from './export-folder';

const LINKS_BATCH_SIZE = 1000;

/** What became of a month. `unsealed`: the worker has not sealed all of its records yet. */
export type MonthOutcome = 'exported' | 'dropped' | 'open' | 'unsealed' | 'written' | 'later';

export interface ExportReport {
  readonly month: string;
  readonly outcome: MonthOutcome;
  readonly ranges: readonly ExportedRange[];
}

/** Exports whole months of the audit trail, and drops them. Each link is verified when it is written and when it is read back. */
export class AuditExport {
  constructor(
    private readonly database: Database,
    private readonly store: AuditExportStore,
    private readonly folder: ExportFolder,
  ) {}

  /**
   * @param keptMonths how many whole months before this one stay
   * @param isDropped false: the files are written, and nothing is changed
   * @throws ExportProblem when a chain is broken: nothing of its month is dropped
   */
  async *run(keptMonths: number, isDropped: boolean): AsyncGenerator<ExportReport> {
    await this.folder.create();
    if (isDropped) await this.store.finish(this.database);
    for (const month of await this.store.listExpired(this.database.autocommit, keptMonths)) {
      yield await this.exportMonth(month, isDropped);
    }
  }

  private async exportMonth(month: ExpiredMonth, isDropped: boolean): Promise<ExportReport> {
    const { autocommit } = this.database;
    const kept = (outcome: MonthOutcome): ExportReport => ({ month: month.month, outcome, ranges: [] });
    if (month.isOpen) return kept('open');
    const newest = await this.store.newest(autocommit, month);
    if (!(await this.store.isSealed(autocommit, month))) return kept('unsealed');
    const ranges: ExportedRange[] = [];
    for (const span of await this.store.spans(autocommit, month))
      ranges.push(...(await this.write(month, span)));
    for (const range of ranges) await this.readBack(range);
    if (!isDropped) return { month: month.month, outcome: 'exported', ranges };
    const outcome = await this.store.drop(this.database, month, newest, ranges);
    return { month: month.month, outcome: outcome === 'done' ? 'dropped' : outcome, ranges };
  }

  private async write(month: ExpiredMonth, span: PositionSpan): Promise<ExportedRange[]> {
    const files = new RangeWriter(this.folder, { organizationId: span.organizationId, month: month.month });
    try {
      await this.writeLinks(month, span, files);
      await files.endRange();
      return files.ranges;
    } finally {
      await files.abandon();
    }
  }

  private async writeLinks(month: ExpiredMonth, span: PositionSpan, files: RangeWriter): Promise<void> {
    const { organizationId, first, last } = span;
    let [after, previous] = ['', ''];
    for (let from = String(BigInt(first) - 1n); from !== last; from = after) {
      const links = await this.store.links(this.database.autocommit, month, span, from, LINKS_BATCH_SIZE);
      if (links.length === 0) throw broken(organizationId, last);
      for (const link of links) {
        if (after === '' || link.position !== String(BigInt(after) + 1n)) {
          // the first one, or the one after a range of a month that was dropped before
          await files.endRange();
          previous = await this.hashBefore(organizationId, link.position);
        }
        if (!link.record) await files.endRange();
        else if (auditSealHash(previous, link.record) === link.hash) await files.add(link, previous);
        else throw broken(organizationId, link.position);
        [after, previous] = [link.position, link.hash];
      }
    }
  }

  private async hashBefore(organization: OrganizationId, position: string): Promise<string> {
    const hash = await this.store.hashBefore(this.database.autocommit, organization, position);
    if (hash === null) throw broken(organization, String(BigInt(position) - 1n));
    return hash;
  }

  private async readBack(range: ExportedRange): Promise<void> {
    let previous = range.hashBefore;
    for await (const { position, hash, record } of this.folder.links(range)) {
      if (!record || auditSealHash(previous, record) !== hash)
        throw new ExportProblem(`${this.folder.pathOf(range)} was damaged at position ${position}`);
      previous = hash;
    }
  }
}

/**
 * Writes the links of a month, a file for each range of positions. A month has gaps where transactions at its beginning and
 * end were sealed in another order than that of time.
 */
class RangeWriter {
  readonly ranges: ExportedRange[] = [];
  private file: ExportFile | null = null;
  private batch: ChainLink[] = [];

  constructor(
    private readonly folder: ExportFolder,
    private readonly range: Pick<ExportedRange, 'organizationId' | 'month'>,
  ) {}

  async add(link: ChainLink, hashBefore: string): Promise<void> {
    this.file ??= await this.folder.begin({ ...this.range, hashBefore });
    this.batch.push(link);
    if (this.batch.length === LINKS_BATCH_SIZE) await this.flush(this.file);
  }

  async endRange(): Promise<void> {
    if (!this.file) return;
    await this.flush(this.file);
    this.ranges.push(await this.file.end());
    this.file = null;
  }

  /** Removes what was not completed. */
  async abandon(): Promise<void> {
    await this.file?.remove();
  }

  private async flush(file: ExportFile): Promise<void> {
    await file.write(this.batch);
    this.batch = [];
  }
}

const broken = (organization: string, position: string): ExportProblem =>
  new ExportProblem(
    `The chain of organization ${organization} is broken at position ${position}: see drawbridge-admin audit verify`,
  );
