import { setTimeout as pause } from 'node:timers/promises';
import { figure, type Figure } from '../../bench/figure';
import { organization, sshTo } from '../../builders/accounts/organization';
import { LoadBalancer } from '../../harness/network/load-balancer';
import type { Evidence } from '../oracles/evidence';
import { historyOf } from '../oracles/history';
import { Watch } from '../oracles/watch';
import { SteadyTraffic, type Sent } from '../steady-traffic';
import type { Outcome, RunOptions } from './chaos-run';
import { PatroniCluster } from './patroni';
import { Testbed } from './testbed';

/** few: each pass of a target takes one of the five calls a second that its account allows */
const GROUPS = 2;
/** starts and stops */
const PER_SECOND = 50;
const IDLE_TIMEOUT_MS = 120_000;
const GOAL_SECONDS = 15;
/** Longer than a start usually takes to become ACTIVE. */
const STOP_AFTER_MS = 4000;
/** An answer that takes longer is no normal one. */
const SLOW_MS = 2000;

export interface FailoverOptions extends RunOptions {
  /** default: three nodes, and 20 s until a silent leader is replaced */
  readonly nodes?: number;
  readonly ttl?: number;
  /** before the first fault, and after each new leader; default 20 s */
  readonly calmMs?: number;
}

/** All in ms since 1970. */
interface Failover {
  readonly kind: 'switchover' | 'leader killed';
  readonly at: number;
  /** a new leader accepts writes */
  readonly ledAt: number;
  /** the next one begins */
  readonly until: number;
}

/**
 * Starts and stops sessions while the leader of the database changes: by switchovers and by kills of the leader, in turn.
 * @throws Error with all violations
 */
export async function failoverRun(options: FailoverOptions, count: number): Promise<Outcome> {
  const began = performance.now();
  let cluster!: PatroniCluster;
  const testbed = await Testbed.start(false, options.latencyMs, async () => {
    cluster = await PatroniCluster.start(options.nodes ?? 3, options.ttl ?? 20);
    return cluster;
  });
  const balancer = await LoadBalancer.start(testbed.apiBases.map((base) => Number(new URL(base).port)));
  const sent: Sent[] = [];
  let traffic: SteadyTraffic | null = null;
  try {
    const org = await organization(testbed, sshTo(GROUPS));
    const watch = await Watch.begin(testbed, { seed: options.seed, patienceMs: 0 });
    const onSent = (request: Sent): void => {
      sent.push(request);
      if (request.what === 'POST /sessions' && request.answer?.status === 200)
        watch.acknowledged((JSON.parse(request.answer.body) as { id: string }).id);
    };
    const manner = { sessionInterval: 2, stopAfterMs: STOP_AFTER_MS, onSent };
    traffic = new SteadyTraffic(balancer.port, org, manner);
    traffic.begin(PER_SECOND);
    const failovers = await failOver(cluster, watch, options, count);
    await traffic.end();
    await testbed.expireSessions();
    await watch.verify({ withinMs: IDLE_TIMEOUT_MS });
    const evidence = await watch.evidence(true);
    return {
      injected: [],
      evidence,
      requests: traffic.requests,
      minutes: (performance.now() - began) / 60_000,
      figures: figuresOf(failovers, sent, evidence),
    };
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${testbed.unexpectedFailures()}`, { cause: error });
  } finally {
    await traffic?.end();
    await balancer.stop();
    await testbed.stop();
  }
}

async function failOver(
  cluster: PatroniCluster,
  watch: Watch,
  { calmMs = 20_000, log }: FailoverOptions,
  count: number,
): Promise<Failover[]> {
  const failovers: Failover[] = [];
  await pause(calmMs);
  for (let index = 0; index < count; index += 1) {
    const kind = index % 2 === 0 ? 'switchover' : 'leader killed';
    const fault = watch.fault(kind);
    const at = Date.now();
    await (kind === 'switchover' ? cluster.switchover() : cluster.kill());
    const ledAt = Date.now();
    fault.end();
    await pause(calmMs / 2);
    await (kind === 'switchover' ? cluster.untilWhole() : cluster.startAgain());
    await pause(calmMs / 2);
    await watch.collect();
    failovers.push({ kind, at, ledAt, until: Date.now() });
    log(`${kind}: a new leader after ${((ledAt - at) / 1000).toFixed(1)} s`);
  }
  return failovers;
}

function figuresOf(failovers: readonly Failover[], sent: readonly Sent[], evidence: Evidence): Figure[] {
  const openings = [...historyOf(evidence).sessions.values()].flatMap((moves) => {
    const active = moves.find(({ now }) => now === 'ACTIVE');
    return active ? [{ from: moves[0]!.at, to: active.at }] : [];
  });
  const before = openings.filter(({ to }) => to < failovers[0]!.at).map(({ from, to }) => to - from);
  const usualMs = Math.max(SLOW_MS, ...before);
  const abnormal = sent.filter(
    ({ answer, tookMs }) => answer === null || answer.status >= 400 || tookMs > SLOW_MS,
  );
  const normalAt = ({ at, ledAt, until }: Failover): number => {
    const during = abnormal.filter((request) => request.at >= at && request.at + request.tookMs < until);
    const opened = openings.filter(({ from, to }) => from >= at && to >= ledAt && to - from <= usualMs);
    return Math.max(ledAt, ...during.map((request) => request.at), Math.min(...opened.map(({ to }) => to)));
  };
  const seconds = (kind: Failover['kind'], length: (failover: Failover) => number): number[] =>
    failovers.filter((failover) => failover.kind === kind).map((failover) => length(failover) / 1000);
  const failed = sent.filter(({ answer }) => answer === null || answer.status >= 400);
  return [
    figure('requests that failed, during failovers', '', [failed.length]),
    figure(
      'start to ACTIVE before the failovers, median',
      's',
      before.map((ms) => ms / 1000),
    ),
    ...(['switchover', 'leader killed'] as const).flatMap((kind) => {
      const led = seconds(kind, ({ at, ledAt }) => ledAt - at);
      if (led.length === 0) return [];
      const normal = seconds(kind, (failover) => normalAt(failover) - failover.ledAt);
      const whole = seconds(kind, (failover) => normalAt(failover) - failover.at);
      return [
        figure(`${kind}, to a new leader, median (of ${led.length})`, 's', led),
        figure(`${kind}, new leader to normal, median`, 's', normal),
        figure(`${kind}, new leader to normal, max`, 's', normal, { atMost: GOAL_SECONDS }, 1),
        figure(`${kind}, to normal, max`, 's', whole, null, 1),
      ];
    }),
  ];
}
