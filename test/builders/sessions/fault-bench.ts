import { Watch } from '../../chaos/oracles/watch';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge, type DrawbridgeOptions } from '../../harness/product/drawbridge';
import type { CloudCall, Fault, OpenRule } from '../../harness/product/simulator-client';
import { until } from '../../harness/until';
import { group as groupId, organization, type Organization } from '../accounts/organization';

/** Faults last seconds; with CHAOS_FULL=1 as long as documented. */
export const CHAOS_FULL = process.env['CHAOS_FULL'] === '1';

/** A simulated group and one organization with access to it, watched during a fault. */
export class FaultBench {
  private readonly begunAt = Date.now();

  private constructor(
    readonly drawbridge: Drawbridge,
    readonly watch: Watch,
    readonly org: Organization,
    readonly group: string,
  ) {}

  /** @param index of the group, which must hold no rule of ours */
  static async begin(
    drawbridge: Drawbridge,
    index: number,
    config: object = { port: 22 },
  ): Promise<FaultBench> {
    const org = await organization(drawbridge, [{ group: groupId(index), config }]);
    return new FaultBench(drawbridge, await Watch.begin(drawbridge), org, groupId(index));
  }

  /** Starts a session and registers it as acknowledged. */
  async start(ipv4Address: string): Promise<Session> {
    const session = await this.org.started({ ipv4Address });
    this.watch.acknowledged(session.id);
    return session;
  }

  /** Starts a session and waits until it is ACTIVE. @returns its id */
  async open(ipv4Address: string): Promise<string> {
    const { id } = await this.start(ipv4Address);
    await this.org.reaches(id, 'ACTIVE');
    return id;
  }

  async stop(id: string): Promise<void> {
    await this.org.admin.posted(`/sessions/${id}/stop`);
  }

  /** Sets a fault on the group until `clear`. */
  async breaks(fault: Fault): Promise<{ clear(): Promise<void> }> {
    const window = this.watch.fault(fault.kind, { cloudOnly: true });
    await this.drawbridge.cloud.fault({ target: this.group, ...fault });
    return {
      clear: async () => {
        await this.drawbridge.cloud.clearFaults();
        window.end();
      },
    };
  }

  rules = (): Promise<OpenRule[]> => this.drawbridge.cloud.rules(this.group);
  addresses = async (): Promise<string[]> => (await this.rules()).map((rule) => rule.address).toSorted();

  /** Calls on the group since the bench was created, by operation prefix, oldest first, without dry runs. */
  async calls(operation: '' | 'Authorize' | 'Revoke' | 'Describe' = ''): Promise<CloudCall[]> {
    return (await this.drawbridge.cloud.calls(this.begunAt * 1000)).filter(
      (call) =>
        call.target === this.group &&
        call.operation.startsWith(operation) &&
        call.outcome !== 'DryRunOperation',
    );
  }

  /** Waits until no call is in progress, slow ones included, and evaluates every oracle. */
  async holds(): Promise<void> {
    await until('every call has its answer', async () =>
      (await this.drawbridge.cloud.calls(this.begunAt * 1000)).every((call) => call.outcome !== null),
    );
    await this.watch.verify();
  }

  /** Waits until a change was attempted with this outcome. */
  async met(operation: 'Authorize' | 'Revoke' | 'Describe', outcome: string): Promise<void> {
    await until(`${operation} has met ${outcome}`, async () =>
      (await this.calls(operation)).some((call) => call.outcome === outcome),
    );
  }
}

/** The product for the scenarios of a file. */
export const ownForFaults = (options: DrawbridgeOptions = {}): Drawbridge =>
  Drawbridge.own({ ...options, simulator: { SIMULATOR_RULES_PER_GROUP: '8', ...options.simulator } });
