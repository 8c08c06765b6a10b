import type { Schemas } from '#client';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, ApiClient, Session } from '../../harness/product/api-client';
import type { Product } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import type { Organization } from '../accounts/organization';

export interface Traffic {
  readonly protocol: string;
  readonly ports: number[];
}

/** What a host reports as guarded. */
export interface ReportedGuard {
  readonly guarded: Traffic[];
  readonly waiting: Traffic[];
  readonly leftAlone: Traffic[];
  readonly refused: (Traffic & { readonly reason: string })[];
  readonly connections: { readonly address: string; readonly protocol: string; readonly port: number }[];
  readonly otherChains?: string[];
}

export type AgentState = Schemas['AgentStateDto'];

export interface AgentResult {
  readonly ruleId: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** A client of the agent channel with an in-memory firewall. */
export class TestAgent {
  /** the last state it received */
  state: AgentState | null = null;
  private readonly standing = new Set<string>();

  constructor(
    readonly client: ApiClient,
    readonly name: string,
    private readonly instance: string | null = null,
  ) {}

  ask(
    given: { version?: string; waitSeconds?: number } = {},
    signal?: AbortSignal,
  ): Promise<Answer<AgentState>> {
    const query = new URLSearchParams({ agent: this.name });
    if (this.instance !== null) query.set('instance', this.instance);
    for (const [name, value] of Object.entries(given)) query.set(name, String(value));
    return this.client.get(`/agents/state?${query.toString()}`, signal);
  }

  report(
    version: string,
    results: readonly AgentResult[],
    more: object = {},
  ): Promise<Answer<{ version: string }>> {
    const instance = this.instance === null ? {} : { instance: this.instance };
    return this.client.post('/agents/report', { agent: this.name, version, results, ...instance, ...more });
  }

  /** Fetches the whole state, as soon as it differs from the last one. */
  async fetched(waitSeconds = 0): Promise<AgentState> {
    const version = this.state ? { version: this.state.version } : {};
    this.state = await this.client.expect(200, this.ask({ ...version, waitSeconds }));
    return this.state;
  }

  /** One turn: fetches the state, applies it, and reports what changed. */
  async turn(waitSeconds = 0): Promise<AgentState> {
    const state = await this.fetched(waitSeconds);
    const desired = new Set(state.rules.map(({ id }) => id));
    const removed = [...this.standing].filter((id) => !desired.has(id));
    for (const id of removed) this.standing.delete(id);
    for (const id of desired) this.standing.add(id);
    const results = [
      ...state.rules
        .filter(({ unconfirmed }) => unconfirmed)
        .map(({ id }) => ({ ruleId: id, status: 'APPLIED' })),
      ...removed.map((id) => ({ ruleId: id, status: 'REMOVED' })),
    ];
    await this.client.expect(200, this.report(state.version, results));
    return state;
  }

  /** Reports what the host guards, about the last state it received. */
  async reportsGuard(guard: Partial<ReportedGuard>): Promise<string> {
    const whole = { guarded: [], waiting: [], leftAlone: [], refused: [], connections: [], ...guard };
    const { version } = await this.client.expect(200, this.report(this.state!.version, [], { guard: whole }));
    return version;
  }

  /** Takes turns until it is stopped. */
  serve(): { stop: () => Promise<void> } {
    const stopping = new AbortController();
    const turns = async (): Promise<void> => {
      while (!stopping.signal.aborted) await this.turn(1);
    };
    const served = turns();
    return {
      stop: () => {
        stopping.abort();
        return served;
      },
    };
  }
}

/** A guarded host: its credential and its resource. */
export class GuardedHost {
  constructor(
    private readonly org: Organization,
    readonly name: string,
    readonly credentialId: string,
    readonly resourceId: string,
    private readonly key: ApiClient,
  ) {}

  /** The agent's API key in plain text. */
  get plainKey(): string {
    const { identity } = this.key;
    if (!identity || !('apiKey' in identity)) throw new Error('An agent has an API key');
    return identity.apiKey;
  }

  agent(instance: string | null = null): TestAgent {
    return new TestAgent(this.key, this.name, instance);
  }

  /** Its agent connects, it is verified, and the agent fetches the state that guards it. */
  async guardedBy(agent: TestAgent): Promise<void> {
    await agent.turn();
    await this.org.admin.expect(200, this.verify());
    await agent.turn();
  }

  verify(): Promise<Answer<{ isActive: boolean; error: string; message: string }>> {
    return this.org.admin.post(`/resources/${this.resourceId}/verify`);
  }
}

/** Adds a host to an organization's role. It can be verified once its agent has connected. */
export async function guardedHost(
  org: Organization,
  name: string,
  config: object = { port: 22 },
): Promise<GuardedHost> {
  const { admin } = org;
  const credential = { name: `Agent ${name}`, provider: 'AGENT', credentialType: 'AGENT' };
  const { id: credentialId } = await admin.created('/credentials', credential);
  const resourceId = await hostResource(org, credentialId, name, config);
  return new GuardedHost(org, name, credentialId, resourceId, await agentKey(org, [name]));
}

/** Hosts of an organization with names, and visitors with addresses, that nothing else has. */
export function hostsOf(org: Organization) {
  let hosts = 0;
  let addresses = 0;
  /** It was never verified. */
  const newHost = (config?: object, of = org): Promise<GuardedHost> =>
    guardedHost(of, `host-${(hosts += 1)}`, config);
  /** A verified host with its agent, which has nothing to keep yet. */
  const served = async (
    config?: object,
    { of = org, instance = null as string | null } = {},
  ): Promise<{ host: GuardedHost; agent: TestAgent }> => {
    const host = await newHost(config, of);
    const agent = host.agent(instance);
    await host.guardedBy(agent);
    return { host, agent };
  };
  const fresh = (): string => `203.0.113.${(addresses += 1)}`;
  const startedOn = ({ resourceId }: GuardedHost, given: object = {}): Promise<Session> =>
    org.started({ ipv4Address: fresh(), resourceIds: [resourceId], ...given });
  const statusOf = async (id: string): Promise<string> => (await org.session(id)).status;
  return { newHost, served, fresh, startedOn, statusOf };
}

/** A key for agents. @param agents the hosts it is bound to; left out: the first host it serves */
export async function agentKey(org: Organization, agents?: string[]): Promise<ApiClient> {
  const apiKey = await org.plainKey(['agent:connect'], { name: 'agent', ...(agents ? { agents } : {}) });
  return org.drawbridge.api.as({ apiKey });
}

/** A host's resource in the organization's role. */
export async function hostResource(
  { admin, roleId }: Organization,
  credentialId: string,
  name: string,
  config: object = {},
): Promise<string> {
  const named = { provider: 'AGENT', resourceType: 'HOST_FIREWALL', resourceIdentifier: name };
  const body = { name: `host ${name}`, credentialId, config, ...named };
  const { id } = await admin.created('/resources', body);
  await admin.posted(`/roles/${roleId}/resources/${id}`);
  return id;
}

/** Verifies a resource of a host once its agent, a process, has connected: from then on the host guards its ports. */
export const verifiedByAgent = ({ admin }: Organization, resourceId: string): Promise<boolean> =>
  until('the agent has connected', async () => {
    const { status } = await admin.post(`/resources/${resourceId}/verify`);
    return status === 200;
  });

/** Moves the time an agent was last seen into the past. */
export const lastHeardOf = (drawbridge: Product, name: string, secondsAgo: number): Promise<unknown> =>
  drawbridge.query(`UPDATE agents SET seen_at = now() - make_interval(secs => $2) WHERE name = $1`, [
    name,
    secondsAgo,
  ]);

/** The longest wait there is. */
export const WAIT_SECONDS = 30;

/** A request that waits. */
export interface Asked<Given> {
  readonly answer: Promise<Given>;
  /** ends with its wait; the server begins to count later */
  readonly over: Promise<unknown>;
}

/** @param ask sends the request */
export const asked = <Given>(ask: () => Promise<Given>): Asked<Given> => ({
  over: pause(WAIT_SECONDS * 1000 - 100, undefined, { ref: false }),
  answer: ask(),
});

/** @throws Error when there is no answer before the wait is over */
export const early = <Given>({ answer, over }: Asked<Given>): Promise<Given> =>
  Promise.race([
    answer,
    over.then(() => Promise.reject(new Error('It is not answered before the wait is over'))),
  ]);

/** Makes an agent wait for a newer state. @returns once it waits */
export async function waiting(drawbridge: Product, agent: TestAgent): Promise<Asked<AgentState>> {
  const seen = async (): Promise<string | undefined> => {
    const [row] = await drawbridge.query<{ at: string }>(
      'SELECT seen_at::text AS at FROM agents WHERE name = $1',
      [agent.name],
    );
    return row?.at;
  };
  const before = await seen();
  const { version } = agent.state!;
  const ask = (): Promise<AgentState> =>
    agent.client.expect(200, agent.ask({ version, waitSeconds: WAIT_SECONDS }));
  const sent = asked(ask);
  await until('it waits', async () => (await seen()) !== before);
  return sent;
}
