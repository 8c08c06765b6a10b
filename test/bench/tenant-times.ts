import { randomUUID } from 'node:crypto';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Organization } from '../builders/accounts/organization';
import type { Session } from '../harness/product/api-client';
import { quantile } from './figure';
import { freshAddress } from './load';

const KINDS = ['get', 'start', 'stop', 'signIn'] as const;
/** Of a tenant's requests. */
export type Kind = (typeof KINDS)[number];
/** Median times of one tenant's requests, milliseconds. */
export type Times = Readonly<Record<Kind, number>>;

const INTERVAL_MS = 50;
/** A sign-in takes a core for as long as ten other requests. */
const ROUNDS_FOR_A_SIGN_IN = 4;

let addresses = 0;
/** An address that was never counted. */
export const stranger = (): string => `198.18.${(addresses >> 8) & 255}.${(addresses += 1) & 255}`;

interface Sent {
  readonly from: string;
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** The requests of one organization, each from an address of its own. */
export class Tenant {
  private constructor(
    private readonly org: Organization,
    private readonly base: string,
    private readonly account: { readonly email: string; readonly password: string },
  ) {}

  /** @param base of one API, which has the organization */
  static async of(org: Organization, base: string): Promise<Tenant> {
    const account = { email: `${randomUUID()}@example.com`, password: randomUUID() };
    const tenant = new Tenant(org, base, account);
    await tenant.send('POST', '/auth/register', {
      from: stranger(),
      body: { organizationName: 'Example', ...account },
    });
    return tenant;
  }

  /** Each request must succeed. */
  async times(sessions: number): Promise<Times> {
    const samples: Record<Kind, number[]> = { get: [], start: [], stop: [], signIn: [] };
    for (let round = 0; round < sessions; round += 1) {
      const from = stranger();
      const timed = async (kind: Kind, method: string, path: string, body: object = {}): Promise<Session> => {
        const began = performance.now();
        const answer = await this.send(method, path, { from, ...(method === 'GET' ? {} : { body }) });
        samples[kind].push(performance.now() - began);
        if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}`);
        return (await answer.json()) as Session;
      };
      const { id } = await timed('start', 'POST', '/sessions', { ipv4Address: freshAddress() });
      await timed('get', 'GET', '/sessions?size=10');
      await timed('stop', 'POST', `/sessions/${id}/stop`);
      if (round % ROUNDS_FOR_A_SIGN_IN === 0) samples.signIn.push(await this.signIn());
      await pause(INTERVAL_MS);
    }
    const medians = KINDS.map((kind) => [kind, quantile(samples[kind], 0.5)] as const);
    return Object.fromEntries(medians) as Record<Kind, number>;
  }

  /** @returns how long it took, milliseconds */
  async signIn(): Promise<number> {
    const began = performance.now();
    const { status } = await this.send('POST', '/auth/login', { from: stranger(), body: this.account });
    if (status !== 200) throw new Error(`A sign-in was answered with ${status}`);
    return performance.now() - began;
  }

  send(method: string, path: string, { from, body, signal }: Sent): Promise<Response> {
    const { identity } = this.org.admin;
    if (!identity || !('token' in identity)) throw new Error('An administrator has a token');
    return fetch(`${this.base}${path}`, {
      method,
      signal: signal ?? null,
      headers: {
        Authorization: `Bearer ${identity.token}`,
        'Content-Type': 'application/json',
        'X-Forwarded-For': from,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}

/** Connections of one address, each of which asks again some time after it was answered. */
export interface Flood {
  readonly url: string;
  readonly apiKey: string;
  readonly connections: number;
  readonly pauseMs: number;
}

const RAMP_MS = 4000;

/** Prints the times, and how often the flood got which status. @returns the tenant's times before and during it */
export async function besides(
  tenant: Tenant,
  { url, apiKey, connections, pauseMs }: Flood,
  sessions: number,
): Promise<{ readonly quiet: Times; readonly beside: Times }> {
  const quiet = await tenant.times(sessions);
  const flood = forked('hostile-connections.cjs', [url, apiKey, String(connections), String(pauseMs)]);
  await pause(RAMP_MS);
  const beside = await tenant.times(sessions);
  flood.send('statuses');
  const [statuses] = (await once(flood, 'message')) as [object];
  flood.disconnect();
  await once(flood, 'exit');
  const measured = [statuses, { quiet }, { beside }].map((one) => JSON.stringify(one)).join(' ');
  process.stderr.write(`${connections} connections to ${url} got ${measured} ms\n`);
  return { quiet, beside };
}

/** A process of one of the files here. It ends when it is disconnected. */
export const forked = (file: string, given: readonly string[]): ChildProcess =>
  fork(join(__dirname, file), given);
