import { CallFailure } from '../call-failure';
import type { CallToken } from '../call-tokens';
import { unexpectedResponse } from './gcp-errors';
import {
  readFirewall,
  readFirewallPage,
  readName,
  readOperation,
  readPermissions,
  type FirewallPage,
  type Operation,
} from './compute-responses';
import type { ComputeApi, ComputeCall } from './compute-api';
import type { FirewallRule, TaggedNetwork, NewFirewall } from './firewall-mapping';

const PAGE_SIZE = 500;
/** Name of an operation that does not exist, for permission checks. */
const NO_OPERATION = 'drawbridge-permission-check';
/** Timeout of every call except `wait`. */
const CALL_TIMEOUT_MS = 5000;

/** The API calls on one VPC network. Each throws CallFailure, also for a malformed response. */
export class VpcNetwork {
  constructor(
    readonly target: TaggedNetwork,
    private readonly token: CallToken<string>,
    private readonly api: ComputeApi,
  ) {}

  /** Checks that the network exists and the credential may read it. */
  async describe(): Promise<void> {
    const { network } = this.target;
    const response = await this.call('GET', ['networks', network]);
    if (readName(response, 'networks.get') !== network) throw unexpectedResponse('networks.get');
  }

  /** The firewall rules of the network, including those for other target tags, all pages. */
  async list(): Promise<FirewallRule[]> {
    const rules: FirewallRule[] = [];
    let next: string | undefined;
    do {
      const page = await this.listPage(next);
      rules.push(...page.rules);
      if (page.next !== undefined && page.next === next) throw unexpectedResponse('firewalls.list');
      next = page.next;
    } while (next !== undefined);
    return rules;
  }

  /** The name of any firewall rule of the project; null when it has none. */
  async anyRule(): Promise<string | null> {
    const response = await this.call('GET', ['firewalls'], { query: { maxResults: '1' } });
    return readFirewallPage(response, 'firewalls.list').rules[0]?.name ?? null;
  }

  /** @returns the granted subset of the permissions on a rule */
  async permissionsOn(rule: string, permissions: string[]): Promise<string[]> {
    const path = ['firewalls', rule, 'testIamPermissions'];
    const response = await this.call('POST', path, { body: { permissions } });
    return readPermissions(response, 'firewalls.testIamPermissions');
  }

  /** @returns the granted subset of the permissions on the project */
  async permissionsOnProject(permissions: string[]): Promise<string[]> {
    const { project } = this.target;
    const response = await this.token.use((token) =>
      this.api.testPermissions({ token, timeoutMs: CALL_TIMEOUT_MS }, project, permissions),
    );
    return readPermissions(response, 'projects.testIamPermissions');
  }

  async get(name: string): Promise<FirewallRule> {
    return readFirewall(await this.call('GET', ['firewalls', name]), name, 'firewalls.get');
  }

  async insert(rule: NewFirewall, requestId: string): Promise<Operation> {
    const response = await this.call('POST', ['firewalls'], { query: { requestId }, body: rule });
    return readOperation(response, 'firewalls.insert');
  }

  async update(rule: NewFirewall, requestId: string): Promise<Operation> {
    const response = await this.call('PUT', ['firewalls', rule.name], { query: { requestId }, body: rule });
    return readOperation(response, 'firewalls.update');
  }

  async delete(name: string, requestId: string): Promise<Operation> {
    const response = await this.call('DELETE', ['firewalls', name], { query: { requestId } });
    return readOperation(response, 'firewalls.delete');
  }

  /** Checks that the credential may read the project's operations. @throws CallFailure */
  async requireOperationAccess(): Promise<void> {
    try {
      await this.call('GET', ['operations', NO_OPERATION]);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  /** Long poll: returns when the operation is done, or shortly before the timeout. */
  async wait(operation: string, timeoutMs: number): Promise<Operation> {
    const response = await this.call('POST', ['operations', operation, 'wait'], {}, timeoutMs);
    return readOperation(response, 'globalOperations.wait');
  }

  private async listPage(pageToken: string | undefined): Promise<FirewallPage> {
    const query = {
      filter: `network eq ".*/networks/${this.target.network}"`,
      maxResults: String(PAGE_SIZE),
      ...(pageToken !== undefined && { pageToken }),
    };
    return readFirewallPage(await this.call('GET', ['firewalls'], { query }), 'firewalls.list');
  }

  private call(
    method: ComputeCall['method'],
    path: readonly string[],
    rest: Pick<ComputeCall, 'query' | 'body'> = {},
    timeoutMs = CALL_TIMEOUT_MS,
  ): Promise<Record<string, unknown>> {
    const call = { method, project: this.target.project, path, ...rest };
    return this.token.use((token) => this.api.call({ token, timeoutMs }, call));
  }
}

/** Whether a call failed because its resource does not exist. */
export const isMissing = (error: unknown): error is CallFailure =>
  error instanceof CallFailure && error.kind === 'target-missing';
