import { CallFailure } from '../call-failure';
import type { CallToken } from '../call-tokens';
import { oddAnswer } from './gcp-errors';
import {
  readFirewall,
  readFirewallPage,
  readName,
  readOperation,
  readPermissions,
  type FirewallPage,
  type Operation,
} from './compute-answers';
import type { ComputeApi, ComputeCall } from './compute-api';
import type { FirewallRule, TaggedNetwork, NewFirewall } from './firewall-mapping';

const PAGE_SIZE = 500;
/** The name of none: asked for, it tells who may not ask from who may. */
const NO_OPERATION = 'drawbridge-permission-check';
/** A call that is no wait for an operation. */
const CALL_TIMEOUT_MS = 5000;
/** The calls Drawbridge makes on one VPC network. Each throws CallFailure, also for an answer in another shape. */
export class VpcNetwork {
  constructor(
    readonly place: TaggedNetwork,
    private readonly token: CallToken<string>,
    private readonly api: ComputeApi,
  ) {}

  /** Succeeds when the network exists and the credential may see it. */
  async describe(): Promise<void> {
    const { network } = this.place;
    const answer = await this.call('GET', ['networks', network]);
    if (readName(answer, 'networks.get') !== network) throw oddAnswer('networks.get');
  }

  /** The firewall rules of the network, those of other instances too, all pages. */
  async list(): Promise<FirewallRule[]> {
    const rules: FirewallRule[] = [];
    let next: string | undefined;
    do {
      const page = await this.listPage(next);
      rules.push(...page.rules);
      if (page.next !== undefined && page.next === next) throw oddAnswer('firewalls.list');
      next = page.next;
    } while (next !== undefined);
    return rules;
  }

  /** The name of any firewall rule of the project; null when it has none. */
  async anyRule(): Promise<string | null> {
    const answer = await this.call('GET', ['firewalls'], { query: { maxResults: '1' } });
    return readFirewallPage(answer, 'firewalls.list').rules[0]?.name ?? null;
  }

  /** @returns those of the permissions that the credential has on a rule */
  async permissionsOn(rule: string, permissions: string[]): Promise<string[]> {
    const path = ['firewalls', rule, 'testIamPermissions'];
    const answer = await this.call('POST', path, { body: { permissions } });
    return readPermissions(answer, 'firewalls.testIamPermissions');
  }

  async get(name: string): Promise<FirewallRule> {
    return readFirewall(await this.call('GET', ['firewalls', name]), name, 'firewalls.get');
  }

  async insert(rule: NewFirewall, requestId: string): Promise<Operation> {
    const answer = await this.call('POST', ['firewalls'], { query: { requestId }, body: rule });
    return readOperation(answer, 'firewalls.insert');
  }

  async update(rule: NewFirewall, requestId: string): Promise<Operation> {
    const answer = await this.call('PUT', ['firewalls', rule.name], { query: { requestId }, body: rule });
    return readOperation(answer, 'firewalls.update');
  }

  async delete(name: string, requestId: string): Promise<Operation> {
    const answer = await this.call('DELETE', ['firewalls', name], { query: { requestId } });
    return readOperation(answer, 'firewalls.delete');
  }

  /** Succeeds when the credential may look at the project's operations. */
  async requireOperations(): Promise<void> {
    try {
      await this.call('GET', ['operations', NO_OPERATION]);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  /** Answers when the operation is done, or a little before `withinMs` is over. */
  async wait(operation: string, withinMs: number): Promise<Operation> {
    const answer = await this.call('POST', ['operations', operation, 'wait'], {}, withinMs);
    return readOperation(answer, 'globalOperations.wait');
  }

  private async listPage(pageToken: string | undefined): Promise<FirewallPage> {
    const query = {
      filter: `network eq ".*/networks/${this.place.network}"`,
      maxResults: String(PAGE_SIZE),
      ...(pageToken !== undefined && { pageToken }),
    };
    return readFirewallPage(await this.call('GET', ['firewalls'], { query }), 'firewalls.list');
  }

  private call(
    method: ComputeCall['method'],
    path: readonly string[],
    rest: Pick<ComputeCall, 'query' | 'body'> = {},
    withinMs = CALL_TIMEOUT_MS,
  ): Promise<Record<string, unknown>> {
    const call = { method, project: this.place.project, path, ...rest };
    return this.token.use((token) => this.api.call({ token, withinMs }, call));
  }
}

/** Whether a call failed because what it names is not there. */
export const isMissing = (error: unknown): error is CallFailure =>
  error instanceof CallFailure && error.kind === 'target-missing';
