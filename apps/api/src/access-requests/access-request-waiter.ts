import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import { undecidedRequests } from '#tenant-store';
import { SettlementWaiter } from '../sessions/settlement-waiter';

/** Long polls on access requests that wait for a decision. */
@Injectable()
export class AccessRequestWaiter extends SettlementWaiter {
  constructor(database: Database) {
    super((ids) => undecidedRequests(database.autocommit, ids));
  }
}
