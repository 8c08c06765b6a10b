import { randomUUID } from 'node:crypto';
import { group, organization, type Organization } from '../../builders/organization';
import type { Answer, ApiClient, Session } from '../../harness/api-client';
import { ApiClient as Client } from '../../harness/api-client';
import type { Watch } from '../oracles/watch';
import type { Bed } from './bed';
import type { Random } from './random';
import { unlessUnanswered } from './unanswered';

/** 409: the address is held already, or the session is over. 503: the database is away, try again. */
const EXPECTED = [200, 201, 204, 400, 404, 409, 503];
const MAX_ATTEMPTS = 60;
const HANG_UP_TIMEOUT_MS = 120;
const KEYED_REPEATS = 0.3;
const GROUPS_A_SESSION = 2;

/** An answer that nothing explains. */
export class Unexpected extends Error {}

/** One organization whose people start and end sessions, whatever fails meanwhile. */
export class Tenant {
  /** sessions it was told of, that nobody has ended yet */
  readonly live: string[] = [];
  /** how many were sent, answered or not */
  requests = 0;
  private readonly clients: readonly ApiClient[];

  private constructor(
    private readonly bed: Bed,
    private readonly org: Organization,
    private readonly watch: () => Watch,
    private readonly random: Random,
  ) {
    this.clients = bed.apiBases.map((base) => new Client(base, org.admin.identity));
  }

  /** Each tenant names every group: what they open there they share. */
  static async register(bed: Bed, groups: number, watch: () => Watch, random: Random): Promise<Tenant> {
    const plans = Array.from({ length: groups }, (_, index) => ({
      group: group(index),
      config: { port: 22 },
    }));
    return new Tenant(bed, await organization(bed, plans), watch, random);
  }

  /**
   * A session without a key: who is not answered does not know whether it began.
   * @param groups how many it opens
   */
  async start(address: string, groups = GROUPS_A_SESSION): Promise<void> {
    const answer = await this.send<Session>((client) => client.post('/sessions', this.body(address, groups)));
    if (answer?.status === 200) this.told(answer.body.id);
  }

  /** A session under one Idempotency-Key, sent again until it is answered, hung up on now and then. */
  async startKeyed(address: string): Promise<void> {
    const key = randomUUID();
    const body = this.body(address);
    this.watch().keySent(key, address);
    let answers = 0;
    const desired = this.random.chance(KEYED_REPEATS) ? 2 : 1;
    for (let tries = 0; tries < MAX_ATTEMPTS && answers < desired; tries += 1) {
      const hangUp = tries < 3 ? AbortSignal.timeout(this.random.between(1, HANG_UP_TIMEOUT_MS)) : null;
      const answer = await this.send<Session>((client) =>
        client.send('POST', '/sessions', body, { 'Idempotency-Key': key }, hangUp),
      );
      if (answer?.status !== 200) continue;
      this.watch().keySent(key, address, answer.body.id);
      if (answers++ === 0) this.live.push(answer.body.id);
    }
    await this.otherRequest(key, address);
  }

  /** Stops one, or lets its time run out. @param expiries the share of those whose time runs out */
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

  /** A static rule for an address, and out again a little later. */
  async openForGood(address: string): Promise<void> {
    const resourceIds = [this.random.pick(this.org.resourceIds)];
    const made = await this.send<{ id: string }>((client) =>
      client.post('/static-ip-rules', { label: address, ipAddress: address, resourceIds }),
    );
    if (made?.status !== 201 || this.random.chance(0.3)) return;
    await this.send((client) => client.delete(`/static-ip-rules/${made.body.id}`));
  }

  /** Deletes every static rule there is. */
  async closeForGood(): Promise<void> {
    for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
      const rules = await this.send<{ id: string }[]>((client) => client.get('/static-ip-rules?size=100'));
      if (rules?.status === 200 && rules.body.length === 0) return;
      for (const { id } of rules?.status === 200 ? rules.body : [])
        await this.send((client) => client.delete(`/static-ip-rules/${id}`));
    }
    throw new Unexpected('The static rules could not be deleted');
  }

  /** Makes the time of a session run out, as nothing else can within a test. */
  private async expire(id: string, inMs: number): Promise<void> {
    await this.bed
      .query(
        `UPDATE sessions SET expires_at = now() + make_interval(secs => $2)
         WHERE id = $1 AND status IN ('PENDING', 'ACTIVE', 'PARTIAL')`,
        [id, inMs / 1000],
      )
      // the database is away: another time
      .catch(() => this.live.push(id));
  }

  /** The key stands for its first request: another one under it is refused. */
  private async otherRequest(key: string, address: string): Promise<void> {
    if (!this.random.chance(0.1)) return;
    const answer = await unlessUnanswered(
      this.client.post('/sessions', { ...this.body(address), durationHours: 3 }, { 'Idempotency-Key': key }),
    );
    if (answer && answer.status !== 422 && answer.status < 500)
      throw new Unexpected(`Another request under a used key was answered ${answer.status}`);
  }

  private body(
    address: string,
    groups = GROUPS_A_SESSION,
  ): { ipv4Address: string; durationHours: number; resourceIds: string[] } {
    const resourceIds = this.random.shuffled(this.org.resourceIds).slice(0, groups);
    return { ipv4Address: address, durationHours: 2, resourceIds };
  }

  private told(id: string): void {
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

  /** @throws Unexpected when the answer is none that faults explain */
  private async send<T>(request: (client: ApiClient) => Promise<Answer<T>>): Promise<Answer<T> | null> {
    this.requests += 1;
    const answer = await unlessUnanswered(request(this.client));
    if (answer && !EXPECTED.includes(answer.status))
      throw new Unexpected(`Answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer;
  }
}
