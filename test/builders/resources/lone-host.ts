import { AgentProcess, type AgentSetting } from '../../harness/product/agent-process';
import type { Session } from '../../harness/product/api-client';
import type { Drawbridge } from '../../harness/product/drawbridge';
import { HOST, Network, VISITOR } from '../../harness/network/network';
import { until } from '../../harness/until';
import { guardedHost, verifiedByAgent, type GuardedHost } from './agents';
import type { Organization } from '../accounts/organization';

/** A host in a network namespace of its own, with a guarded port, whose agents and server can fail. */
export class LoneHost {
  network!: Network;
  host!: GuardedHost;
  place!: { readonly address: string; readonly port: number };
  agents: AgentProcess[] = [];
  isServerAway = false;
  private setting!: AgentSetting;

  private constructor(
    private readonly drawbridge: Drawbridge,
    private readonly org: Organization,
  ) {}

  /** Another one for each test of a file or of a `describe`. @param prefix of its names */
  static forEachTest(drawbridge: Drawbridge, org: Organization, prefix: string): LoneHost {
    const lone = new LoneHost(drawbridge, org);
    let hosts = 0;
    beforeEach(() => lone.begin(`${prefix}-${(hosts += 1)}`));
    afterEach(() => lone.end());
    return lone;
  }

  private async begin(name: string): Promise<void> {
    this.agents = [];
    this.isServerAway = false;
    this.network = await Network.start();
    this.place = { address: HOST.ipv4, port: await this.network.host.listen() };
    this.host = await guardedHost(this.org, name, { port: this.place.port });
    const port = (): number | null => (this.isServerAway ? null : this.drawbridge.apiServer.port);
    const server = await this.network.reachable(port);
    this.setting = { server, name, key: this.host.plainKey };
  }

  private async end(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.stop('SIGKILL')));
    this.network.stop();
  }

  /** Starts an agent. */
  serve(more: Partial<AgentSetting> = {}, where = this.network): AgentProcess {
    const agent = AgentProcess.start(where, { ...this.setting, ...more });
    this.agents.push(agent);
    return agent;
  }

  /** Starts an agent, and waits until it guards the port. */
  async served(more: Partial<AgentSetting> = {}): Promise<AgentProcess> {
    const agent = this.serve(more);
    await verifiedByAgent(this.org, this.host.resourceId);
    await until('the port is guarded', async () => !(await this.isOpen()));
    return agent;
  }

  isOpen = (): Promise<boolean> => this.network.visitor.reaches(this.place);
  closes = (): Promise<boolean> => until('the port is closed', async () => !(await this.isOpen()));

  start(given: object = {}): Promise<Session> {
    const { resourceId, name } = this.host;
    return this.org.started({ ipv4Address: VISITOR.ipv4, resourceIds: [resourceId], holder: name, ...given });
  }

  stop = (id: string): Promise<unknown> => this.org.admin.posted(`/sessions/${id}/stop`);
  statusOf = async (id: string): Promise<string> => (await this.org.session(id)).status;
  /** Runs the agent's program once. */
  run = (...args: readonly string[]): Promise<{ code: number | null; output: string }> =>
    AgentProcess.run(this.network, {}, ...args);

  /** Runs a command of it that asks the server. */
  runConnected(
    more: Partial<AgentSetting>,
    ...args: readonly string[]
  ): Promise<{ code: number | null; output: string }> {
    const { server, name } = this.setting;
    return AgentProcess.run(this.network, more, '--server', server, '--name', name, ...args);
  }

  async active(given: object = {}): Promise<string> {
    const { id } = await this.start(given);
    await this.org.reaches(id, 'ACTIVE');
    return id;
  }

  /** The server can no longer be reached, until `isServerAway` is false again. */
  disconnect(): void {
    this.isServerAway = true;
    this.network.cut();
  }

  /** Moves the session's end, and waits until the agent has it. */
  async endsIn(id: string, seconds: number): Promise<void> {
    await this.org.expire(id, seconds * 1000);
    // as an extension does
    await this.drawbridge.query(
      `UPDATE rules SET revision = revision + 1 WHERE id IN (
         SELECT rule_id FROM rule_holders JOIN resource_ips ip ON ip.id = resource_ip_id WHERE session_id = $1)`,
      [id],
    );
    await until('the host has the new end', async () =>
      new RegExp(`tcp ${this.place.port} +\\d s`).test((await this.run('--status')).output),
    );
  }
}
