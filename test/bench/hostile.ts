import { randomUUID } from 'node:crypto';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { guardedHost } from '../builders/agents';
import { organization, type Organization } from '../builders/organization';
import type { Session } from '../harness/api-client';
import { Drawbridge } from '../harness/drawbridge';
import { figure, quantile, type Figure } from './figure';
import { freshAddress } from './load';

const CONNECTIONS = [200, 800];
/** Of each hostile connection: enough to keep all of them busy, and not this machine's two cores. */
const PAUSE_MS = 2000;
const WARM_UP = 100;
const SESSIONS = 100;
const INTERVAL_MS = 50;
const MAX_RATIO = 1.5;
/** Of one address without an account, each of which asks again as soon as it is answered. */
const FLOOD = 200;
const MAX_FLOOD_RATIO = 3;

const SIGN_INS = 10;
const ABANDONED = 40;
const ABANDONED_AFTER_MS = 300;
/** as shipped, for one address */
const SIGN_INS_PER_ADDRESS = 20;
const MAX_SIGN_IN_RATIO = 2;

/** Median times of one tenant's requests, milliseconds. */
type Times = Record<'get' | 'start' | 'stop', number>;

let addresses = 0;
/** Somebody who was never counted. */
const stranger = (): string => `198.18.${(addresses >> 8) & 255}.${(addresses += 1) & 255}`;

/**
 * With the limits as shipped: requests of one tenant beside connections of another one that all ask for the state of one host,
 * and beside connections without an account that are refused over and over; and a sign-in behind others that were abandoned.
 */
export async function hostile(): Promise<Figure[]> {
  const api = { NODE_ENV: 'production', PASSWORD_HASH_COST: '12' };
  const drawbridge = await Drawbridge.start({ worker: false, api });
  try {
    const org = await organization(drawbridge);
    const host = await guardedHost(await organization(drawbridge, []), 'gateway');
    await host.agent().turn();
    const { port } = await drawbridge.startApi(api, 'nobody');
    const base = `http://127.0.0.1:${port}/api/v1`;
    const tenant = new Tenant(org, base);
    await tenant.times(WARM_UP);
    const figures: Figure[] = [];
    const state = `${base}/agents/state?agent=gateway`;
    for (const connections of CONNECTIONS) {
      const given = [state, host.plainKey, String(connections), String(PAUSE_MS)];
      figures.push(...(await tenant.besides(`${connections} hostile connections`, given, MAX_RATIO)));
    }
    for (const path of ['api/v1/nothing', '.well-known/drawbridge']) {
      const given = [new URL(`/${path}`, base).href, 'nobody', String(FLOOD), '0'];
      figures.push(
        ...(await tenant.besides(`${FLOOD} connections that flood /${path}`, given, MAX_FLOOD_RATIO)),
      );
    }
    return [...figures, ...(await tenant.signIns())];
  } finally {
    await drawbridge.stop();
  }
}

class Tenant {
  constructor(
    private readonly org: Organization,
    private readonly base: string,
  ) {}

  /** Each request must succeed. */
  async times(sessions: number): Promise<Times> {
    const samples = { get: [] as number[], start: [] as number[], stop: [] as number[] };
    for (let index = 0; index < sessions; index += 1) {
      const from = stranger();
      const timed = async (
        kind: keyof Times,
        method: string,
        path: string,
        body?: object,
      ): Promise<Session> => {
        const began = performance.now();
        const answer = await this.send(method, path, from, body);
        samples[kind].push(performance.now() - began);
        if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}`);
        return (await answer.json()) as Session;
      };
      const { id } = await timed('start', 'POST', '/sessions', { ipv4Address: freshAddress() });
      await timed('get', 'GET', '/sessions?size=10');
      await timed('stop', 'POST', `/sessions/${id}/stop`);
      await pause(INTERVAL_MS);
    }
    const median = (kind: keyof Times): number => quantile(samples[kind], 0.5);
    return { get: median('get'), start: median('start'), stop: median('stop') };
  }

  /** @param given to the hostile connections */
  async besides(name: string, given: readonly string[], atMost: number): Promise<Figure[]> {
    const quiet = await this.times(SESSIONS);
    const neighbours = fork(join(__dirname, 'hostile-connections.cjs'), given);
    await pause(2 * PAUSE_MS);
    const beside = await this.times(SESSIONS);
    neighbours.send('statuses');
    process.stderr.write(`${name} got ${JSON.stringify(await once(neighbours, 'message'))}\n`);
    neighbours.disconnect();
    await once(neighbours, 'exit');
    return (['get', 'start', 'stop'] as const).map((kind) =>
      figure(`${kind} beside ${name}, times quiet`, '', [beside[kind] / quiet[kind]], { atMost }),
    );
  }

  async signIns(): Promise<Figure[]> {
    const account = {
      organizationName: 'Example',
      email: `${randomUUID()}@example.com`,
      password: randomUUID(),
    };
    await this.send('POST', '/auth/register', stranger(), account);
    const signIn = async (): Promise<number> => {
      const began = performance.now();
      const { email, password } = account;
      const { status } = await this.send('POST', '/auth/login', stranger(), { email, password });
      if (status !== 200) throw new Error(`A sign-in was answered with ${status}`);
      return performance.now() - began;
    };
    const quiet: number[] = [];
    const behind: number[] = [];
    for (let round = 0; round < SIGN_INS; round += 1) {
      quiet.push(await signIn());
      await this.abandonSignIns();
      behind.push(await signIn());
    }
    const ratio = quantile(behind, 0.5) / quantile(quiet, 0.5);
    return [
      figure('sign-in, quiet', 'ms', quiet),
      figure(`sign-in behind ${ABANDONED} abandoned ones`, 'ms', behind),
      figure(`sign-in behind ${ABANDONED} abandoned ones, times quiet`, '', [ratio], {
        atMost: MAX_SIGN_IN_RATIO,
      }),
    ];
  }

  private async abandonSignIns(): Promise<void> {
    const gone = AbortSignal.timeout(ABANDONED_AFTER_MS);
    let from = '';
    const sent = Array.from({ length: ABANDONED }, (_, index) => {
      if (index % SIGN_INS_PER_ADDRESS === 0) from = stranger();
      const guess = { email: `${randomUUID()}@example.com`, password: 'wrong' };
      return this.send('POST', '/auth/login', from, guess, gone);
    });
    await Promise.allSettled(sent);
  }

  private send(
    method: string,
    path: string,
    from: string,
    body?: object,
    signal?: AbortSignal,
  ): Promise<Response> {
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
