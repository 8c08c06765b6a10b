import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { AgentPollStore, type AgentState, type AgentVisit, type ProvenPoll } from '#engine-store';
import { Database } from '#entities';
import type { OrganizationId } from '#rules';
import { AgentStateWatcher, type StateWatch } from './agent-state-watcher';

/** Between two proofs. A request is recorded, and its answer proven, with the next one. */
const PROOF_INTERVAL_MS = 2000;
/**
 * How long a proof counts: longer than a wait, and so short that neither the agent has been away (`AGENT_AWAY_SECONDS`)
 * nor another installation can have taken over before its next request is recorded.
 */
const MAX_PROOF_AGE_MS = 45_000;
/** Agents in one proof. */
const BATCH_SIZE = 500;
/** States with more rules are read for each request. */
const MAX_RULES = 50;

interface Remembered {
  readonly visit: AgentVisit;
  readonly organizationId: OrganizationId;
  readonly agentId: string;
  /** created before the state was first read */
  readonly watch: StateWatch;
  state: AgentState;
  keySecondsLeft: number | null;
  /** when both were read */
  readAt: number;
  /** start of that read */
  provenAt: number;
  /** of its last request that no proof has recorded; null: every one is recorded */
  heardAt: number | null;
}

/**
 * Agents that this process answered last, so that one that waits for a change costs no statement but the guard's. Whatever
 * changes the answer is notified. Independently of that, every request is proven by the database within
 * `PROOF_INTERVAL_MS`, many at once; without a proof the agent's requests are served one by one again.
 */
@Injectable()
export class RememberedAgents implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('RememberedAgents');
  /** by host key */
  private readonly agents = new Map<string, Remembered>();
  private timer: NodeJS.Timeout | null = null;
  private isProving = false;

  constructor(
    private readonly database: Database,
    private readonly polls: AgentPollStore,
    private readonly watcher: AgentStateWatcher,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.prove(), PROOF_INTERVAL_MS).unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /**
   * Remembers the answer of an admitted agent, unless a change was notified since the state was read.
   * @param watch created before the state was read; ended with the memory
   * @param readAt start of the read, by `performance.now`
   */
  remember(
    visit: AgentVisit,
    organizationId: OrganizationId,
    agentId: string,
    proven: ProvenPoll,
    watch: StateWatch,
    readAt: number,
  ): void {
    this.forget(visit.targetKey);
    if (watch.isNotified || !this.watcher.isListening || proven.state.rules.length > MAX_RULES) {
      watch.end();
      return;
    }
    this.agents.set(visit.targetKey, {
      ...proven,
      visit,
      organizationId,
      agentId,
      watch,
      readAt: performance.now(),
      provenAt: readAt,
      heardAt: null,
    });
  }

  /**
   * The state for a request of the agent that has this version, if the database would return it unchanged. Notes that the
   * agent was heard of.
   * @returns null when that is not known
   */
  unchanged(visit: AgentVisit, version: string): AgentState | null {
    const known = this.agents.get(visit.targetKey);
    if (!known || known.state.version !== version || !isSameVisit(known.visit, visit)) return null;
    const now = performance.now();
    const isKnown =
      this.watcher.isListening && !known.watch.isNotified && now - known.provenAt < MAX_PROOF_AGE_MS;
    const seconds = (now - known.readAt) / 1000;
    if (!isKnown || secondsToChange(known) <= seconds) {
      this.forget(visit.targetKey);
      return null;
    }
    known.heardAt = now;
    return agedState(known.state, seconds);
  }

  private async prove(): Promise<void> {
    if (this.isProving) return;
    this.isProving = true;
    try {
      this.forgetOld();
      const heard = [...this.agents.values()].filter(({ heardAt }) => heardAt !== null);
      for (let from = 0; from < heard.length; from += BATCH_SIZE) {
        await this.proveBatch(heard.slice(from, from + BATCH_SIZE));
      }
    } catch (error) {
      // what is not proven in time is served one by one
      this.logger.warn({ msg: 'Waiting agents could not be recorded; tried again', err: error });
    } finally {
      this.isProving = false;
    }
  }

  private async proveBatch(batch: readonly Remembered[]): Promise<void> {
    const startedAt = performance.now();
    const proven = await this.polls.prove(
      this.database.autocommit,
      batch.map(({ visit, organizationId, agentId, state, heardAt }) => ({
        agentId,
        organizationId,
        targetKey: visit.targetKey,
        keyId: visit.keyId,
        instance: visit.instance,
        version: state.version,
        heardAgoMs: startedAt - heardAt!,
      })),
    );
    for (const known of batch) {
      const { targetKey } = known.visit;
      if (this.agents.get(targetKey) !== known) continue;
      const poll = proven.get(known.agentId);
      if (!poll) {
        this.forget(targetKey);
        // its waiting request is served by itself
        this.watcher.notified(targetKey);
        continue;
      }
      Object.assign(known, poll, { readAt: performance.now(), provenAt: startedAt });
      if (known.heardAt! <= startedAt) known.heardAt = null;
    }
  }

  private forgetOld(): void {
    const now = performance.now();
    for (const [targetKey, { watch, provenAt }] of this.agents) {
      if (watch.isNotified || now - provenAt >= MAX_PROOF_AGE_MS) this.forget(targetKey);
    }
  }

  private forget(targetKey: string): void {
    this.agents.get(targetKey)?.watch.end();
    this.agents.delete(targetKey);
  }
}

const isSameVisit = (one: AgentVisit, other: AgentVisit): boolean =>
  one.keyId === other.keyId &&
  one.instance === other.instance &&
  one.address === other.address &&
  one.software === other.software;

/** Until the state changes by the clock alone: a rule or the key ends. */
const secondsToChange = ({ state, keySecondsLeft }: Remembered): number =>
  state.rules.reduce(
    (least, { secondsLeft }) => Math.min(least, secondsLeft ?? Infinity),
    keySecondsLeft ?? Infinity,
  );

const agedState = (state: AgentState, seconds: number): AgentState => ({
  ...state,
  serverTime: new Date(state.serverTime.getTime() + 1000 * seconds),
  rules: state.rules.map((rule) => ({
    ...rule,
    secondsLeft: rule.secondsLeft === null ? null : rule.secondsLeft - seconds,
  })),
});
