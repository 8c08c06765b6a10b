import { Injectable } from '@nestjs/common';
import type { ReportStores } from '#engine';
import {
  AgentSettlementStore,
  LeaseStore,
  LedgerStore,
  SettlementOwnersStore,
  SettlementStore,
} from '#engine-store';

/** The stores needed to settle an agent's report. */
@Injectable()
export class AgentReportStores implements ReportStores {
  readonly leases = new LeaseStore();
  readonly settlements = new SettlementStore();
  readonly owners = new SettlementOwnersStore();
  readonly ledger = new LedgerStore();
  readonly reports = new AgentSettlementStore();
}
