import { randomUUID } from 'node:crypto';
import { group, organization, type Organization } from '../../builders/accounts/organization';
import type { Answer, ApiClient, Session } from '../../harness/product/api-client';
import { ApiClient as Client } from '../../harness/product/api-client';
import type { Watch } from '../oracles/watch';
import type { Testbed } from './testbed';
import type { Random } from './random';
import { unlessUnanswered } from './unanswered';

/** 409: the address has a session, or the session has ended. 503: the database is down. */
const EXPECTED = [200, 201, 204, 400, 404, 409, 503];
const MAX_ATTEMPTS = 60;
const ABORT_TIMEOUT_MS = 120;
const REPEAT_PROBABILITY = 0.3;
const GROUPS_PER_SESSION = 2;

/** An answer that no injected fault explains. */
class UnexpectedAnswer extends Error {}

/** One organization that starts and ends sessions while faults are injected. */
export class Tenant {
  /** acknowledged sessions that were not ended yet */
  readonly live: string[] = [];
  /** number of requests sent, answered or not */
  requests = 0;
  private readonly clients: readonly ApiClient[];

  private constructor(
    private readonly testbed: Testbed,
    private readonly org: Organization,
    private readonly watch: () => Watch,
    private readonly random: Random,
  ) {
    this.clients = testbed.apiBases.map((base) => new Client(base, org.admin.identity));
  }

  /** Each tenant has a resource on every group: they share rules. */
  static async register(
    testbed: Testbed,
    groups: number,
    watch: () => Watch,
    random: Random,
  ): Promise<Tenant> {
    const plans = Array.from({ length: groups }, (_, index) => ({
      group: group(index),
      config: { port: 22 },
    }));
    return new Tenant(testbed, await organization(testbed, plans), watch, random);
  }

  /**
   * Starts a session without an Idempotency-Key: without an answer it is not known whether it started.
   * @param groups number of resources
   */
  async start(address: string, groups = GROUPS_PER_SESSION): Promise<void> {
    const answer = await this.send<Session>((client) => client.post('/sessions', this.body(address, groups)));
    if (answer?.status === 200) this.acknowledged(answer.body.id);
  }

  /** Starts a session with an Idempotency-Key, and retries until answered; some requests are aborted by the client. */
  async startKeyed(address: string): Promise<void> {
    const key = randomUUID();
    const body = this.body(address);
    this.watch().keySent(key, address);
    let answers = 0;
    const desired = this.random.chance(REPEAT_PROBABILITY) ? 2 : 1;
    for (let tries = 0; tries < MAX_ATTEMPTS && answers < desired; tries += 1) {
      const abortSignal = tries < 3 ? AbortSignal.timeout(this.random.between(1, ABORT_TIMEOUT_MS)) : null;
      const answer = await this.send<Session>((client) =>
        client.send('POST', '/sessions', body, { 'Idempotency-Key': key }, abortSignal),
      );
      if (answer?.status === 409) throw new UnexpectedAnswer(`Key ${key} is not known to have a session`);
      if (answer?.status !== 200) continue;
      this.watch().keySent(key, address, answer.body.id);
      if (answers++ === 0) this.live.push(answer.body.id);
    }
    await this.sendOtherRequest(key, address);
  }

  /** Stops a session or lets it expire. @param expiries the share that expires */
  async end(expiries = 0.5): Promise<void> {
    const id = this.takeOne();
    if (!id) return;
    if (this.random.chance(expiries)) await this.expire(id, this.random.between(0, 5000));
    else if (!(await this.send((client) => client.post(`/sessions/${id}/stop`)))) this.live.push(id);
  }

  async extend(): Promise<void> {
    const id = this.live.at(-1);
    if (id) await this.send((client) => client.post(`/sessions/${id}/extend`, { additionalHours: 1 }));
  }

  /** Creates a static rule, and deletes most of them again. */
  async createStaticRule(address: string): Promise<void> {
    const resourceIds = [this.random.pick(this.org.resourceIds)];
    const made = await this.send<{ id: string }>((client) =>
      client.post('/static-ip-rules', { label: address, ipAddress: address, resourceIds }),
    );
    if (made?.status !== 201 || this.random.chance(0.3)) return;
    await this.send((client) => client.delete(`/static-ip-rules/${made.body.id}`));
  }

  /** Deletes all static rules. */
  async deleteStaticRules(): Promise<void> {
    for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
      const rules = await this.send<{ id: string }[]>((client) => client.get('/static-ip-rules?size=100'));
      if (rules?.status === 200 && rules.body.length === 0) return;
      for (const { id } of rules?.status === 200 ? rules.body : [])
        await this.send((client) => client.delete(`/static-ip-rules/${id}`));
    }
    throw new UnexpectedAnswer('The static rules could not be deleted');
  }

  /** Sets the expiry in the database: the API has no duration this short. */
  private async expire(id: string, inMs: number): Promise<void> {
    await this.testbed
      .query(
        `UPDATE sessions SET expires_at = now() + make_interval(secs => $2)
         WHERE id = $1 AND status IN ('PENDING', 'ACTIVE', 'PARTIAL')`,
        [id, inMs / 1000],
      )
      // the database is down: retried later
      .catch(() => this.live.push(id));
  }

  /** A different request with a used key is refused. */
  private async sendOtherRequest(key: string, address: string): Promise<void> {
    if (!this.random.chance(0.1)) return;
    const answer = await unlessUnanswered(
      this.client.post('/sessions', { ...this.body(address), durationHours: 3 }, { 'Idempotency-Key': key }),
    );
    if (answer && answer.status !== 422 && answer.status < 500)
      throw new UnexpectedAnswer(`Another request under a used key was answered ${answer.status}`);
  }

  private body(
    address: string,
    groups = GROUPS_PER_SESSION,
  ): { ipv4Address: string; durationHours: number; resourceIds: string[] } {
    const resourceIds = this.random.shuffled(this.org.resourceIds).slice(0, groups);
    return { ipv4Address: address, durationHours: 2, resourceIds };
  }

  private acknowledged(id: string): void {
    this.watch().acknowledged(id);
    this.live.push(id);
  }

  private takeOne(): string | undefined {
    if (this.live.length === 0) return undefined;
    return this.live.splice(this.random.between(0, this.live.length - 1), 1)[0];
  }

  private get client(): ApiClient {
    return this.random.pick(this.clients);
  }

  /** @throws UnexpectedAnswer */
  private async send<T>(request: (client: ApiClient) => Promise<Answer<T>>): Promise<Answer<T> | null> {
    this.requests += 1;
    const answer = await unlessUnanswered(request(this.client));
    if (answer && !EXPECTED.includes(answer.status))
      throw new UnexpectedAnswer(`Answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer;
  }
}
