import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import { unsettledSessions } from '#tenant-store';
import { SettlementWaiter } from './settlement-waiter';

/** Long polls on sessions that are neither open nor closed yet. */
@Injectable()
export class SessionSettlementWaiter extends SettlementWaiter {
  constructor(database: Database) {
    super((ids) => unsettledSessions(database.autocommit, ids));
  }
}
