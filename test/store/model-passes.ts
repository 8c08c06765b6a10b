import { deepEqual } from 'node:assert/strict';
import { type DueRuleRow, type Lease, EngineStore } from '#engine-store';
import { settle, type Remark } from '#engine';
import type { Tx } from '#entities';
import type { RuleState, RuleSettlement } from '#rules';
import { byKey, type HistoryState, ORIGIN, READING, withoutId } from './model-state';

const STATES: readonly (RuleState | null)[] = ['absent', 'unknown', 'present', 'present', null];

const ENGINE_STORE = new EngineStore();
const { leases, convergence } = ENGINE_STORE;
/** Leases and passes on a target, on the model and on the database. */
export class PassSteps {
  /** @param interleave called within a pass: whatever else may happen then */
  constructor(
    private readonly state: HistoryState,
    private readonly interleave: () => Promise<void>,
  ) {}

  async take(): Promise<void> {
    const compares = this.state.chance.happens(0.5);
    const model = this.state.model.leases.take(this.state.targetId, 10, compares);
    const real = await this.state.both.real((tx) => leases.take(tx, this.state.targetId, 10, compares));
    const comparable = (lease: Lease | null): object | null =>
      lease && {
        ...lease,
        resourceType: null,
        identifier: null,
        sinceLastWriteMs: Math.round(lease.sinceLastWriteMs ?? -1),
        comparison: lease.comparison && { requested: lease.comparison.requested },
      };
    deepEqual(comparable(real), comparable(model));
    if (model && real) this.state.lease = { model, real };
  }

  /** The end of a convergence. The lease stays known, as to a worker that was paused. */
  async release(): Promise<void> {
    if (!this.state.lease) return;
    const { model, real } = this.state.lease;
    const released = this.state.model.leases.releaseUnlessDue(model);
    deepEqual(await this.state.both.real((tx) => leases.releaseUnlessDue(tx, real)), released);
  }

  /** One pass, with random answers of the cloud. */
  async pass(): Promise<void> {
    if (!this.state.lease || this.state.chance.happens(0.3)) await this.take();
    if (!this.state.lease) return;
    const { model, real } = this.state.lease;
    const modelDue = this.state.model.convergence.due(model, 500);
    const realDue = await this.state.both.real((tx) => convergence.due(tx, real, 500));
    deepEqual(
      realDue.map((row) => this.comparable(row)).toSorted(byKey),
      modelDue.map((row) => this.comparable(row)).toSorted(byKey),
    );
    const since = new Map(
      realDue.flatMap(waitingOf).map((ip) => [ip.resourceIpId, this.state.both.moment(ip.pendingSince)]),
    );
    const pairs = modelDue
      .filter(() => this.state.chance.happens(0.8))
      .map((row) => ({ model: row, real: realDue.find(({ key }) => key === row.key)! }));
    if (pairs.length === 0) return;
    const standing = this.state.model.convergence.possiblyPresent(model);
    const reallyStanding = await this.state.both.real((tx) => convergence.possiblyPresent(tx, real));
    deepEqual(reallyStanding.map(withoutId).toSorted(byKey), standing.map(withoutId).toSorted(byKey));
    const access = this.state.anyAccess();
    if (this.state.chance.happens(0.7)) {
      const split = (side: 'model' | 'real'): { additions: string[]; removals: string[] } => ({
        additions: pairs.filter((pair) => pair.model.desired).map((pair) => pair[side].ruleId),
        removals: pairs.filter((pair) => !pair.model.desired).map((pair) => pair[side].ruleId),
      });
      const wholeList = this.state.chance.happens(0.3);
      const promptWrites = this.state.chance.happens(0.5) ? 2 : 0.5;
      const noted = this.state.model.convergence.recordIntent(
        model,
        { ...split('model'), access, wholeList, promptWrites },
        10,
      );
      const reallyNoted = await this.state.both.real((tx) =>
        convergence.recordIntent(tx, real, { ...split('real'), access, wholeList, promptWrites }, 10),
      );
      deepEqual(reallyNoted && typeof reallyNoted.inDoubtUntil, noted && typeof noted.inDoubtUntil);
      deepEqual(reallyNoted?.ruleIds.length, noted?.ruleIds.length);
      if (noted?.inDoubtUntil === null && wholeList && this.state.chance.happens(0.5)) {
        this.state.model.convergence.confirmWrite(model, noted);
        await this.state.both.real((tx) => convergence.confirmWrite(tx, real, reallyNoted!));
      }
    }
    if (this.state.chance.happens(0.3)) await this.interleave();
    const found = pairs.map((pair) => ({ pair, settled: this.randomSettlement(pair.model) }));
    const isRead = this.state.chance.happens(0.8);
    const way = this.state.chance.happens(0.9) ? access : null;
    const whole = {
      access: way,
      reading: isRead ? () => READING : null,
      giveUpSeconds: 300,
      alignRetries: this.state.chance.happens(0.3),
    };
    const remarks = new Map(found.map(({ pair }) => [pair.model.key, this.remark()]));
    const remarksOf = (side: 'model' | 'real'): Map<string, Remark> =>
      new Map(found.map(({ pair }) => [pair[side].ruleId, remarks.get(pair.model.key)!]));
    const origin = { ...ORIGIN, credentialId: way?.credentialId ?? null };
    const waitingModel = pairs.flatMap((pair) => waitingOf(pair.model));
    const waitingReal = pairs
      .flatMap((pair) => waitingOf(pair.real))
      .map(({ resourceIpId }) => ({ resourceIpId, since: since.get(resourceIpId)! }));
    const settledModel = await this.state.stores.database.transaction((tx) =>
      settle(
        tx,
        this.state.stores,
        model,
        {
          ...whole,
          waiting: waitingModel,
          rules: found.map(({ settled }) => settled),
          remarks: remarksOf('model'),
        },
        origin,
      ),
    );
    const settledReal = await this.state.both.real(async (tx) =>
      settle(
        tx,
        ENGINE_STORE,
        real,
        {
          ...whole,
          waiting: await this.stillWaiting(tx, waitingReal),
          rules: found.map(({ pair, settled }) => ({ ...settled, ruleId: pair.real.ruleId })),
          remarks: remarksOf('real'),
        },
        origin,
      ),
    );
    deepEqual(settledReal?.latenessSeconds.length, settledModel?.latenessSeconds.length);
    deepEqual(settledReal?.events.length, settledModel?.events.length);
  }

  private remark(): Remark {
    return this.state.chance.pick<Remark>([
      {},
      {},
      { refusal: 'the cloud said never' },
      { changedTo: '198.51.100.1/32 tcp 1' },
      { note: 'by the clock' },
      { givenUp: { cause: 'TARGET_GONE', reason: 'the cloud knows no such group' } },
      { isUnmanagedPresent: true, stillAllowedBy: this.state.chance.pick(['sgr-1 (a)', 'sgr-2 (b)', null]) },
    ]);
  }

  /** As the database has it by now: its moments are shifted before each transaction. */
  private async stillWaiting(tx: Tx, waiting: readonly Since[]): Promise<Waiting> {
    const rows = await tx.query<{ id: string; text: string; fromNow: number }[]>(
      `SELECT id, pending_since::text AS text,
         extract(epoch FROM pending_since - now())::float8 * 1000 AS "fromNow" FROM resource_ips`,
    );
    return waiting.map(({ resourceIpId, since }) => {
      const { text, fromNow } = rows.find(({ id }) => id === resourceIpId)!;
      const isSame = Math.abs(fromNow + this.state.both.now - since) < 50;
      return { resourceIpId, pendingSince: isSame ? text : '-infinity' };
    });
  }

  private randomSettlement(row: DueRuleRow): RuleSettlement {
    const state = this.state.chance.pick(STATES);
    const isUnmanaged = state === null ? null : this.state.chance.happens(0.1);
    return {
      ruleId: row.ruleId,
      revision: row.revision,
      state,
      observedPresent: state === 'present' || (state === null && this.state.chance.happens(0.3)),
      presentAtStart: this.state.chance.happens(0.3),
      providerRuleId: state === 'present' ? `sgr-${row.key}` : null,
      isUnmanaged,
      isUnmarked: this.state.chance.pick([null, true, false]),
      attempts: this.state.chance.whole(0, 3),
      dueInMs: this.state.chance.pick([null, 0, 700, 20_000]),
      inFlight: this.state.chance.happens(0.3),
      message: this.state.chance.pick([null, 'the cloud said no']),
      targetMissing: this.state.chance.pick([null, true, false]),
      failed: row.desired && this.state.chance.happens(0.15),
      unwanted: row.desired ? null : row.removeCause,
      addCause: row.addCause,
      adopt: this.state.chance.happens(0.2) ? this.state.anyAccess() : null,
    };
  }

  private comparable(row: DueRuleRow): object {
    const { key, desired, mayOpen, inFlight, inDoubt, recordedId } = row;
    const { state, revision, attempts, writtenWith, holders } = row;
    const held = holders.map(
      ({ status, access, expired, cause, writeVerified }) =>
        `${status} ${access.credentialId} ${access.organizationId} ${expired} ${cause} ${writeVerified}`,
    );
    const { addCause, removeCause, isUnwanted, isMissing, isUnmarked, writerOrganizationId, lastError } = row;
    return {
      // of several holders any one's
      addCause: holders.length === 1 ? addCause : null,
      removeCause,
      isUnwanted,
      isMissing,
      isUnmarked,
      writerOrganizationId,
      lastError,
      key,
      desired,
      mayOpen,
      inFlight,
      inDoubt,
      recordedId,
      state,
      revision,
      attempts,
      writtenWith,
      held: held.toSorted(),
    };
  }
}

/** On the history's clock, ms. */
interface Since {
  readonly resourceIpId: string;
  readonly since: number;
}

type Waiting = Pick<DueRuleRow['holders'][number], 'resourceIpId' | 'pendingSince'>[];

const waitingOf = ({ holders }: DueRuleRow): Waiting => holders.filter(({ status }) => status === 'PENDING');
