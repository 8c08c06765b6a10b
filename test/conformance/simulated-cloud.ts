import { startSimulator } from '../../apps/simulator/src/start-simulator';
import type { Effect, Fault, Opening, PlantedRule, RuleEdit } from './driver-bench';

/** The calls of one provider that have an effect on a target. */
export type Operations = Readonly<Record<Effect, readonly string[]>>;

interface Call {
  readonly operation: string;
  readonly target: string | null;
  readonly outcome: string | null;
}

const isList = <T>(answer: unknown): answer is T[] => Array.isArray(answer);

/** One simulator, and its own interface for one provider. */
export class SimulatedCloud {
  private constructor(
    readonly url: string,
    readonly close: () => Promise<void>,
    private readonly provider: string,
    private readonly operations: Operations,
  ) {}

  /** @param room openings one object has room for, of each IP version */
  static async start(
    provider: string,
    operations: Operations,
    room: number,
    operationMs?: number,
  ): Promise<SimulatedCloud> {
    const simulator = await startSimulator({
      port: 0,
      rulesPerGroup: room,
      entriesPerList: room,
      listChangeMs: 20,
      firewallsPerProject: room,
      azureRulesPerGroup: room,
      azureOperationMs: operationMs ?? 1,
      ...(operationMs !== undefined && { gcpOperationMs: operationMs }),
      azureWriteBurst: 10_000,
      vercelAddresses: room,
    });
    return new SimulatedCloud(simulator.url, () => simulator.close(), provider, operations);
  }

  async plant(target: string, { address, port, description }: PlantedRule): Promise<void> {
    const rule = { target, address, protocol: 'tcp', fromPort: port, toPort: port, description };
    await this.ask('POST', '/_rules', { provider: this.provider, ...rule });
  }

  async edit(target: string, address: string, edit: RuleEdit): Promise<void> {
    const query = `provider=${this.provider}&target=${target}&address=${encodeURIComponent(address)}`;
    await this.ask('PATCH', `/_rules?${query}`, edit);
  }

  async revokeTokens(): Promise<void> {
    await this.ask('POST', '/_tokens/revoke', { provider: this.provider });
  }

  /** The calls on an object that ended like this. */
  async callsWith(target: string, outcomes: readonly string[]): Promise<unknown[]> {
    const calls = await this.list<Call>('/_calls');
    return calls.filter((call) => call.target === target && outcomes.includes(call.outcome ?? ''));
  }

  async openings(target: string): Promise<Opening[]> {
    const path = `/_rules?provider=${this.provider}&target=${target}`;
    return this.list<Opening>(path);
  }

  async bend(
    target: string,
    effect: Effect,
    kind: Fault,
    options: { count?: number; delayMs?: number } = {},
  ): Promise<void> {
    const [operation] = this.operations[effect];
    await this.ask('POST', '/_faults', { provider: this.provider, target, operation, kind, ...options });
  }

  /** As `bend`, for a call that is about no object. */
  async bendOperation(operation: string, kind: Fault, options: { count?: number } = {}): Promise<void> {
    await this.ask('POST', '/_faults', { provider: this.provider, operation, kind, ...options });
  }

  /** @param besides operations that are about no rule of the object */
  async calls(target: string, besides: readonly string[] = []): Promise<Effect[]> {
    const calls = await this.list<Call>('/_calls');
    const counted = calls.filter((call) => call.target === target && !besides.includes(call.operation));
    return counted.map(({ operation }) => this.effectOf(operation));
  }

  async reset(): Promise<void> {
    await this.ask('POST', '/_reset');
  }

  private effectOf(operation: string): Effect {
    if (this.operations.add.includes(operation)) return 'add';
    return this.operations.remove.includes(operation) ? 'remove' : 'read';
  }

  private async list<T>(path: string): Promise<T[]> {
    const answer = await this.ask('GET', path);
    if (!isList<T>(answer)) throw new Error(`GET ${path} gave no list`);
    return answer;
  }

  private async ask(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }
}
