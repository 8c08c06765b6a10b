import { isMissing } from '../call-failure';
import type { CallToken } from '../call-tokens';
import { unexpectedResponse } from './gcp-errors';
import type { ComputeClients } from './compute-clients';
import type { Methods } from './compute-library';
import { readOperation, requirePage, type FirewallPolicy, type Operation } from './compute-messages';
import type { FirewallRule, TaggedNetwork, NewFirewall } from './firewall-mapping';

const PAGE_SIZE = 500;
/** Name of an operation that does not exist, for permission checks. */
const NO_OPERATION = 'drawbridge-permission-check';
/** Far more rules than a network may have. */
const MAX_PAGES = 100;
/** Timeout of every call except `wait`. */
const CALL_TIMEOUT_MS = 5000;

/** The methods that answer with an operation. */
type OperationMethod = 'firewalls.insert' | 'firewalls.update' | 'firewalls.delete' | 'globalOperations.wait';

/** The API calls on one VPC network. Each throws CallFailure, also for a malformed response. */
export class VpcNetwork {
  constructor(
    readonly target: TaggedNetwork,
    private readonly token: CallToken<string>,
    private readonly compute: ComputeClients,
  ) {}

  /**
   * Checks that the network exists and the credential may read it.
   * @returns whether the network's firewall policies come before its rules
   */
  async describe(): Promise<{ readonly policiesFirst: boolean }> {
    const { network } = this.target;
    const { name, networkFirewallPolicyEnforcementOrder: order } = await this.call('networks.get', {
      network,
    });
    if (name !== network) throw unexpectedResponse('networks.get');
    return { policiesFirst: order === 'BEFORE_CLASSIC_FIREWALL' };
  }

  /** The firewall policies in force on the network. @param hasRules the network has rules, which the response contains too */
  async firewallPolicies(hasRules: boolean): Promise<readonly FirewallPolicy[]> {
    const { network } = this.target;
    const found = await this.call('networks.getEffectiveFirewalls', { network });
    // The response has no `kind`: whatever else Google answers is decoded to nothing.
    const isEmpty = found.firewalls.length + found.firewallPolicys.length === 0;
    if (hasRules && isEmpty) throw unexpectedResponse('networks.getEffectiveFirewalls');
    return found.firewallPolicys;
  }

  /** The firewall rules of the network, including those for other target tags, all pages. */
  async list(): Promise<FirewallRule[]> {
    const request = { filter: `network eq ".*/networks/${this.target.network}"`, maxResults: PAGE_SIZE };
    const rules: FirewallRule[] = [];
    let pageToken: string | undefined;
    for (let count = 0; count < MAX_PAGES; count += 1) {
      const page = await this.call('firewalls.list', { ...request, ...(pageToken && { pageToken }) });
      requirePage(page);
      rules.push(...page.items);
      if (!page.nextPageToken) return rules;
      if (page.nextPageToken === pageToken) break;
      pageToken = page.nextPageToken;
    }
    throw unexpectedResponse('firewalls.list');
  }

  /** The name of any firewall rule of the project; null when it has none. */
  async anyRule(): Promise<string | null> {
    const page = await this.call('firewalls.list', { maxResults: 1 });
    requirePage(page);
    return page.items[0]?.name ?? null;
  }

  /** @returns the granted subset of the permissions on a rule */
  async permissionsOn(rule: string, permissions: readonly string[]): Promise<readonly string[]> {
    const request = { resource: rule, testPermissionsRequestResource: { permissions } };
    return (await this.call('firewalls.testIamPermissions', request)).permissions;
  }

  /** @returns the granted subset of the permissions on the project */
  permissionsOnProject(permissions: readonly string[]): Promise<readonly string[]> {
    return this.compute.permissionsOnProject(this.token, this.target.project, permissions, CALL_TIMEOUT_MS);
  }

  async get(name: string): Promise<FirewallRule> {
    const rule = await this.call('firewalls.get', { firewall: name });
    if (rule.name !== name) throw unexpectedResponse('firewalls.get');
    return rule;
  }

  insert(rule: NewFirewall, requestId: string): Promise<Operation> {
    return this.operation('firewalls.insert', { requestId, firewallResource: rule });
  }

  update(rule: NewFirewall, requestId: string): Promise<Operation> {
    return this.operation('firewalls.update', { requestId, firewall: rule.name, firewallResource: rule });
  }

  delete(name: string, requestId: string): Promise<Operation> {
    return this.operation('firewalls.delete', { requestId, firewall: name });
  }

  /** Checks that the credential may read the project's operations. @throws CallFailure */
  async requireOperationAccess(): Promise<void> {
    try {
      await this.call('globalOperations.get', { operation: NO_OPERATION });
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  /** Long poll: returns when the operation is done, or shortly before the timeout. */
  wait(operation: string, timeoutMs: number): Promise<Operation> {
    return this.operation('globalOperations.wait', { operation }, timeoutMs);
  }

  private async operation<M extends OperationMethod>(
    method: M,
    request: Methods[M]['request'],
    timeoutMs?: number,
  ): Promise<Operation> {
    return readOperation(await this.call(method, request, timeoutMs), method);
  }

  private call<M extends keyof Methods>(
    method: M,
    request: Methods[M]['request'],
    timeoutMs = CALL_TIMEOUT_MS,
  ): Promise<Methods[M]['message']> {
    return this.compute.call(this.token, method, { project: this.target.project, ...request }, timeoutMs);
  }
}
