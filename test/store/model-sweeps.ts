import { deepEqual } from 'node:assert/strict';
import { OverdueStore, SweeperLeaseStore, SweepStore, WriteBudgetStore } from '#engine-store';
import type { SlotUse } from '#rules';
import { byJson, type HistoryState } from './model-state';

const sweep = new SweepStore();
const budgets = new WriteBudgetStore();
const sweeperLease = new SweeperLeaseStore();
const overdue = new OverdueStore();

/** The sweeper's statements and write budgets, on the model and on the database. */
export class SweepSteps {
  constructor(private readonly state: HistoryState) {}

  async expire(): Promise<void> {
    if (this.state.chance.happens(0.5)) this.state.both.now += 3_700_000;
    const { nextEndMs, isDue } = await this.state.both.real((tx) => sweep.outlook(tx));
    const rounded = nextEndMs && Math.round(nextEndMs);
    deepEqual({ nextEndMs: rounded, isDue }, this.state.model.sweep.outlook());
    const modelled = this.state.model.sweep.expireSessions(1000);
    const expired = await this.state.both.real((tx) => sweep.expireSessions(tx, 1000));
    const comparable = ({ count, targets }: typeof modelled): object => ({
      count,
      targets: targets.flatMap(({ targetIds }) => targetIds).toSorted(),
    });
    deepEqual(comparable(expired), comparable(modelled));
  }

  async sweepRole(): Promise<void> {
    const workerId = this.state.chance.pick(['one', 'two']);
    if (this.state.chance.happens(0.1)) {
      this.state.model.sweeperLease.release(workerId);
      await this.state.both.real((tx) => sweeperLease.release(tx, workerId));
    }
    const role = this.state.model.sweeperLease.take(workerId, 3);
    const taken = await this.state.both.real((tx) => sweeperLease.take(tx, workerId, 3));
    deepEqual({ ...taken, heldForMs: Math.round(taken.heldForMs) }, role);
    const { length } = this.state.model.overdue.recordOverdue(45, 100);
    deepEqual((await this.state.both.real((tx) => overdue.recordOverdue(tx, 45, 100))).length, length);
  }

  async sweepTargets(): Promise<void> {
    const { sweep: model } = this.state.model;
    const all = await this.state.both.real((tx) => sweep.waitingTargets(tx, 9, 9));
    deepEqual(all.map(plain).toSorted(byJson), model.waitingTargets(9, 9).map(plain).toSorted(byJson));
    // which one of two that became due in one moment comes first is arbitrary
    const [perOrganization, limit] = [this.state.chance.whole(1, 2), this.state.chance.whole(2, 3)];
    const some = await this.state.both.real((tx) => sweep.waitingTargets(tx, perOrganization, limit));
    const known = new Set(all.map(({ targetId }) => targetId));
    deepEqual(some.length > 0, all.length > 0);
    deepEqual(some.length <= limit && some.every(({ targetId }) => known.has(targetId)), true);
    for (const id of this.state.both.tables.targets.keys())
      deepEqual(await this.state.both.real((tx) => sweep.waitingTarget(tx, id)), model.waitingTarget(id));
  }

  async spend(): Promise<void> {
    const { budgets: model } = this.state.model;
    const budget = { burst: 8, refillPerSecond: 2 };
    if (this.state.chance.happens(0.1)) {
      model.empty('account', budget, 1500);
      await this.state.both.real((tx) => budgets.empty(tx, 'account', budget, 1500));
    }
    // no whole milliseconds: of a wait of exactly as much the database's microseconds would decide
    const [calls, maxWaitMs] = [this.state.chance.whole(1, 4), this.state.chance.pick([0.5, 2000.5])];
    const taken = model.take('account', budget, calls, maxWaitMs);
    deepEqual(
      await this.state.both.real((tx) => budgets.take(tx, 'account', budget, calls, maxWaitMs)),
      taken,
    );
  }

  async purge(): Promise<void> {
    this.state.model.sweep.purge(1000);
    this.state.model.sweep.bringForward();
    await this.state.both.real(async (tx) => {
      await sweep.purge(tx, 1000);
      await sweep.bringForward(tx);
    });
  }
}

/** With its columns in one order. */
const plain = ({ targetId, provider, organizations, closing, deferrable }: SlotUse): SlotUse => ({
  targetId,
  provider,
  organizations,
  closing,
  deferrable,
});
