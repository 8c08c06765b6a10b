import { startSimulator } from '../../apps/simulator/src/start-simulator';
import { DriverRegistry, type CloudTarget } from '#drivers';
import { simulatedClouds } from '../harness/product/drawbridge';
import type { DriverBench, Effect, Fault, CloudRule, UnmanagedRule, RuleEdit } from './driver-bench';

/** What every bench does at its cloud without the driver. */
type Handles = Pick<
  DriverBench,
  'addUnmanaged' | 'rules' | 'injectFault' | 'injectCheckFault' | 'calls' | 'reset' | 'close'
>;

const identifierOf = ({ identifier }: CloudTarget): string => identifier;

/** The operations of one provider by their effect on a target. */
export type Operations = Readonly<Record<Effect, readonly string[]>>;

interface Call {
  readonly operation: string;
  readonly target: string | null;
  readonly outcome: string | null;
}

const isList = <T>(body: unknown): body is T[] => Array.isArray(body);

/** A simulator and its control interface for one provider. */
export class SimulatedCloud {
  private constructor(
    readonly url: string,
    readonly close: () => Promise<void>,
    private readonly provider: string,
    private readonly operations: Operations,
  ) {}

  /** @param capacity maximum number of rules of a target, per IP version */
  static async start(
    provider: string,
    operations: Operations,
    capacity: number,
    operationMs?: number,
  ): Promise<SimulatedCloud> {
    const simulator = await startSimulator({
      port: 0,
      rulesPerGroup: capacity,
      entriesPerList: capacity,
      listChangeMs: 20,
      firewallsPerProject: capacity,
      azureRulesPerGroup: capacity,
      azureServiceRules: capacity,
      azureOperationMs: operationMs ?? 0,
      ...(operationMs !== undefined && { gcpOperationMs: operationMs }),
      azureWriteBurst: 10_000,
      vercelAddresses: capacity,
      atlasEntries: capacity,
      wafAddresses: capacity,
      wafWritesPerSecond: 10_000,
      eksCidrs: capacity + 1,
      ...(operationMs !== undefined && { eksUpdateMs: operationMs }),
    });
    return new SimulatedCloud(simulator.url, () => simulator.close(), provider, operations);
  }

  /**
   * @param check the operation that shows whether a credential is valid
   * @param uncounted operations that belong to a write
   * @param nameOf what the cloud calls a target
   */
  handles(check: string, uncounted: readonly string[] = [], nameOf = identifierOf): Handles {
    return {
      addUnmanaged: (target, rule) => this.addUnmanaged(nameOf(target), rule),
      rules: (target) => this.rules(nameOf(target)),
      injectFault: (target, effect, fault, options) =>
        this.injectFault(nameOf(target), effect, fault, options),
      injectCheckFault: (fault, options) => this.injectOperationFault(check, fault, options),
      calls: (target) => this.calls(nameOf(target), uncounted),
      reset: () => this.reset(),
      close: this.close,
    };
  }

  /** Drivers that find it. @param more further variables of the environment */
  drivers(
    more: NodeJS.ProcessEnv = {},
    options?: ConstructorParameters<typeof DriverRegistry>[1],
  ): DriverRegistry {
    return new DriverRegistry({ ...simulatedClouds(this.url), ...more }, options);
  }

  async addUnmanaged(target: string, { port, protocol = 'tcp', ...rest }: UnmanagedRule): Promise<void> {
    const rule = { provider: this.provider, target, protocol, fromPort: port, toPort: port, ...rest };
    await this.request('POST', '/_rules', rule);
  }

  async edit(target: string, address: string, edit: RuleEdit): Promise<void> {
    const query = `provider=${this.provider}&target=${target}&address=${encodeURIComponent(address)}`;
    await this.request('PATCH', `/_rules?${query}`, edit);
  }

  /** Makes the simulated account trust an issuer's tokens. @param subject undefined: of any subject */
  async trust(issuer: string, subject?: string): Promise<void> {
    await this.request('PUT', '/_trusts', { provider: this.provider, issuer, subject });
  }

  /** Takes permissions away from the account's role, until the reset. */
  async withdraw(permissions: readonly string[]): Promise<void> {
    await this.request('PUT', '/_roles', { provider: this.provider, without: permissions });
  }

  /** Puts a lock on a target; null takes it away. */
  async lock(target: string, level: 'CanNotDelete' | 'ReadOnly' | null): Promise<void> {
    await this.request('PUT', '/_locks', { provider: this.provider, target, ...(level && { level }) });
  }

  /** Puts firewall policies on a target. @param order of the target's own policies and its rules */
  async setPolicies(target: string, policies: readonly object[], order?: 'before'): Promise<void> {
    await this.request('PUT', '/_policies', {
      provider: this.provider,
      target,
      policies,
      ...(order && { order }),
    });
  }

  /** Makes an account besides the first one of a cloud. */
  async account(
    account: { readonly provider: string; readonly account: string } & Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await this.request('PUT', '/_accounts', account);
  }

  async revokeTokens(): Promise<void> {
    await this.request('POST', '/_tokens/revoke', { provider: this.provider });
  }

  /** The calls on a target with one of these outcomes. */
  async callsWith(target: string, outcomes: readonly string[]): Promise<unknown[]> {
    const calls = await this.list<Call>('/_calls');
    return calls.filter((call) => call.target === target && outcomes.includes(call.outcome ?? ''));
  }

  async countOf(operation: string): Promise<number> {
    return (await this.list<Call>('/_calls')).filter((call) => call.operation === operation).length;
  }

  async rules(target: string): Promise<CloudRule[]> {
    const path = `/_rules?provider=${this.provider}&target=${target}`;
    return this.list<CloudRule>(path);
  }

  async injectFault(
    target: string,
    effect: Effect,
    kind: Fault,
    options: { count?: number; delayMs?: number } = {},
  ): Promise<void> {
    const [operation] = this.operations[effect];
    await this.request('POST', '/_faults', { provider: this.provider, target, operation, kind, ...options });
  }

  /** As `injectFault`, for a call without a target. */
  async injectOperationFault(
    operation: string,
    kind: Fault,
    options: { count?: number } = {},
  ): Promise<void> {
    await this.request('POST', '/_faults', { provider: this.provider, operation, kind, ...options });
  }

  /** @param ignored operations that are not counted */
  async calls(target: string, ignored: readonly string[] = []): Promise<Effect[]> {
    const calls = await this.list<Call>('/_calls');
    const counted = calls.filter((call) => call.target === target && !ignored.includes(call.operation));
    return counted.map(({ operation }) => this.effectOf(operation));
  }

  /** The objects of the cloud in its own form. */
  objects(): Promise<unknown> {
    return this.request('GET', `/_objects?provider=${this.provider}`);
  }

  /** Resets the cloud to objects in its own form. */
  async become(objects: unknown): Promise<void> {
    await this.reset();
    await this.change(objects);
  }

  /** Changes objects in the form of the cloud, as another program; those that are left out stay. */
  async change(objects: unknown): Promise<void> {
    await this.request('PUT', '/_objects', { provider: this.provider, objects });
  }

  async reset(): Promise<void> {
    await this.request('POST', '/_reset');
  }

  private effectOf(operation: string): Effect {
    if (this.operations.add.includes(operation)) return 'add';
    return this.operations.remove.includes(operation) ? 'remove' : 'read';
  }

  private async list<T>(path: string): Promise<T[]> {
    const body = await this.request('GET', path);
    if (!isList<T>(body)) throw new Error(`GET ${path} returned no list`);
    return body;
  }

  private async request(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }
}
