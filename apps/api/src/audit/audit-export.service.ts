import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { FairLimiter, type OrganizationId } from '#rules';
import { BEFORE_FIRST_RECORD } from '#secrets';
import { type SealedSlice, Tenants } from '#tenant-store';
import { invalidField, tooManyRequests } from '../errors';
import { timeRange } from '../http/time-range';
import type { AuditExportQueryDto } from './dto/audit-export-query.dto';
import { EXPORT_FORMATS, type ExportEnd, type ExportFormat } from './export-format';

const RECORDS_AT_ONCE = 200;
/** A statement reads no more seals, also where few of them are of the time asked for. */
const POSITIONS_AT_ONCE = 10_000;
/** A small share of the connections to the database, and of the processor. */
const PAGES_AT_ONCE = 2;
const LONGEST_MS = 15 * 60_000;
const RETRY_SECONDS = 30;

/** Sends the parts of an export until `signal` aborts. A part may be empty: where no record is of the time asked for. */
type Send = (parts: AsyncIterable<string>, signal: AbortSignal) => Promise<void>;

/**
 * Exports sealed audit records, a page for each statement: no connection is held while the reader is waited for. One export of
 * an organization at a time in this process; organizations take turns page by page.
 */
@Injectable()
export class AuditExportService implements OnModuleDestroy {
  private readonly running = new Map<OrganizationId, AbortController>();
  private readonly pages = new FairLimiter(PAGES_AT_ONCE, Infinity);

  constructor(private readonly stores: Tenants) {}

  /** Ends what is running: the last line is missing then, and a reader goes on from the last position elsewhere. */
  onModuleDestroy(): void {
    for (const ending of this.running.values()) ending.abort();
  }

  /** @throws ApiError 400 when `from` is after `to` or `after` beyond the end, 429 during another export, and what `send` throws */
  async export(organization: OrganizationId, query: AuditExportQueryDto, send: Send): Promise<void> {
    const { after = 0, format } = query;
    const times = timeRange(query);
    if (this.running.has(organization)) {
      const message = 'Another export of this organization is running: wait for its end, or end it';
      throw tooManyRequests(message, RETRY_SECONDS);
    }
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), LONGEST_MS);
    this.running.set(organization, ending);
    try {
      const end = await this.stores.sealedRecords.end(this.stores.autocommit, organization);
      const { position, hash } = end ?? { position: '0', hash: BEFORE_FIRST_RECORD };
      const upTo = Number(position);
      // a reader that was here before has records that are gone
      if (after > upTo) throw invalidField('after', `is beyond the end, ${upTo}`);
      const slice = { ...times, after, upTo };
      await send(this.parts(organization, slice, { position, hash }, EXPORT_FORMATS[format]), ending.signal);
    } finally {
      clearTimeout(timer);
      this.running.delete(organization);
    }
  }

  private async *parts(
    organization: OrganizationId,
    { upTo: last, ...slice }: SealedSlice,
    end: Omit<ExportEnd, 'records'>,
    { head, line, end: ended }: ExportFormat,
  ): AsyncGenerator<string> {
    yield head;
    let records = 0;
    for (let { after } = slice; after < last;) {
      const upTo = Math.min(after + POSITIONS_AT_ONCE, last);
      const rest = { ...slice, after, upTo };
      const page = await this.pages.run(organization, () =>
        this.stores.sealedRecords.slice(this.stores.autocommit, organization, rest, RECORDS_AT_ONCE),
      );
      records += page.length;
      after = page.length < RECORDS_AT_ONCE ? upTo : Number(page.at(-1)!.position);
      yield page.map(line).join('');
    }
    yield ended({ ...end, records });
  }
}
