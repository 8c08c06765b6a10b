import { Injectable } from '@nestjs/common';
import { type AccessRow, LedgerQueries, MAX_LEDGER_ITEMS } from '#engine-store/port';
import { Database } from '#entities';
import type { Principal } from '#guards';
import { invalidField } from '../errors/api-error';
import { accessFilter, accessWindow } from './access-filter';
import type { AccessQueryDto } from './dto/access-query.dto';

/** Reports who had access when, derived from observations. */
@Injectable()
export class AccessReportService {
  constructor(
    private readonly database: Database,
    private readonly ledger: LedgerQueries,
  ) {}

  /**
   * Returns an empty report for objects that do not exist or belong to another organization.
   * @throws ApiError 400 naming an invalid field, and for too many items
   */
  async report({ organizationId }: Principal, query: AccessQueryDto): Promise<AccessRow[]> {
    const filter = accessFilter(query);
    const window = accessWindow(query);
    const rows = await this.database.transaction((tx) =>
      this.ledger.access(tx, organizationId, filter, window),
    );
    if (rows !== 'too-many') return rows;
    const field = query.at === undefined ? 'to' : 'at';
    throw invalidField(field, `leads to more than ${MAX_LEDGER_ITEMS} items: ask for a narrower window`);
  }
}
