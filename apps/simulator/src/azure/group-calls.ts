import type { Accounts } from '../accounts/accounts';
import { CloudError } from '../cloud-error';
import type { CallModifiers } from '../faults/serve-call';
import { cutPage } from '../paging';
import type { CloudAnswer, CloudRequest } from '../provider';
import { badRequest, internalError, scopeLocked } from './azure-error';
import { errorOf, jsonAnswer, locksAnswer, permissionsAnswer, render } from './json-answer';
import { isRunning, type Operation, type Operations } from './operations';
import { SUBSCRIPTION_ID } from './principal';
import { checkRuleName, readRuleProperties } from './rule-content';
import type { SecurityGroups, SecurityRule } from './security-groups';

/** Names in a path. */
export interface RouteNames {
  readonly subscription: string;
  readonly resourceGroup?: string;
  readonly group?: string;
  readonly rule?: string;
  readonly id?: string;
}

export interface GroupCall {
  readonly request: CloudRequest;
  readonly names: RouteNames;
  /** `resource group/name` */
  readonly group: string;
  readonly how: CallModifiers;
  /** the change is accepted and fails later */
  readonly fails: boolean;
  /** actions that the role allows */
  readonly granted: readonly string[];
  /** URL of the resource manager, for links */
  readonly base: string;
}

const PAGE_SIZE = 250;
const SUBSCRIPTIONS_PER_PAGE = 2;
const LOCATION = 'westeurope';
/** What Azure suggests for every change, however long it takes. */
const RETRY_AFTER = { 'retry-after': '10' };

/** The simulated calls on network security groups. Each throws CloudError. */
export class GroupCalls {
  constructor(
    private readonly groups: SecurityGroups,
    private readonly operations: Operations,
    private readonly accounts: Accounts,
  ) {}

  listSubscriptions({ base, request }: GroupCall): CloudAnswer {
    const assigned = this.accounts.list('AZURE').filter(({ roles }) => roles.length > 0);
    const page = cutPage(
      assigned.toSorted((one, other) => (one.account < other.account ? -1 : 1)),
      ({ account }) => account,
      request.query.get('$skiptoken') ?? '',
      SUBSCRIPTIONS_PER_PAGE,
    );
    if (!page) throw badRequest('InvalidSkipToken', 'The skip token is not valid.');
    const value = page.items.map(({ account, name, state }) => ({
      id: `/subscriptions/${account}`,
      subscriptionId: account,
      displayName: name,
      state: state === 'ACTIVE' ? 'Enabled' : state,
    }));
    const version = request.query.get('api-version');
    const nextLink = `${base}/subscriptions?api-version=${version}&$skiptoken=${page.next}`;
    return jsonAnswer(200, { value, ...(page.next !== undefined && { nextLink }) });
  }

  getGroup({ group }: GroupCall): CloudAnswer {
    const name = group.split('/')[1];
    const securityRules = this.groups.list(group).map((rule) => this.ruleJson(rule));
    const properties = { provisioningState: 'Succeeded', securityRules, defaultSecurityRules: [] };
    const type = 'Microsoft.Network/networkSecurityGroups';
    return jsonAnswer(200, { name, id: groupId(group), type, location: LOCATION, properties });
  }

  listRules({ group, how, request, base }: GroupCall): CloudAnswer {
    const token = request.query.get('$skiptoken') ?? '';
    const page = cutPage(this.groups.list(group, how.asOf), ({ ordinal }) => ordinal, token, PAGE_SIZE);
    if (!page) throw badRequest('InvalidSkipToken', 'The skip token is not valid.');
    const version = request.query.get('api-version');
    const value = page.items.map((rule) => this.ruleJson(rule));
    const nextLink = `${base}${groupId(group)}/securityRules?api-version=${version}&$skiptoken=${page.next}`;
    return jsonAnswer(200, { value, ...(page.next !== undefined && { nextLink }) });
  }

  getRule({ group, names }: GroupCall): CloudAnswer {
    return jsonAnswer(200, this.ruleJson(this.rule(group, names.rule ?? '')));
  }

  putRule({ group, names, request, fails, base }: GroupCall): CloudAnswer {
    const name = names.rule ?? '';
    checkRuleName(name);
    const properties = readRuleProperties(request.body, name);
    if (this.groups.locks.get(group) === 'ReadOnly') throw scopeLocked(groupId(group));
    this.groups.checkIdle(group);
    this.groups.checkCapacity(group, name, properties);
    const isNew = !this.groups.get(group, name);
    const rule = this.groups.write(group, name, properties, fails);
    const operation = this.operations.start(group, name, fails ? internalError() : null);
    const body = {
      ...this.ruleJson(rule),
      properties: { ...properties, provisioningState: 'Updating' },
    };
    return jsonAnswer(isNew ? 201 : 200, body, operationLinks(base, request, operation));
  }

  deleteRule({ group, names, request, fails, base }: GroupCall): CloudAnswer {
    if (this.groups.locks.has(group)) throw scopeLocked(groupId(group));
    const rule = this.groups.get(group, names.rule ?? '');
    if (!rule) return jsonAnswer(204);
    this.groups.checkIdle(group);
    if (!fails) this.groups.remove(rule);
    const operation = this.operations.start(group, rule.name, fails ? internalError() : null);
    return jsonAnswer(202, undefined, operationLinks(base, request, operation));
  }

  listPermissions({ granted }: GroupCall): CloudAnswer {
    return permissionsAnswer(granted);
  }

  listLocks({ group }: GroupCall): CloudAnswer {
    return locksAnswer(this.groups.locks.get(group));
  }

  getOperation({ names }: GroupCall): CloudAnswer {
    const operation = this.operation(names.id ?? '');
    if (isRunning(operation)) return jsonAnswer(200, { status: 'InProgress' }, RETRY_AFTER);
    const { error } = operation;
    if (!error) return jsonAnswer(200, { status: 'Succeeded' });
    return jsonAnswer(200, { status: 'Failed', error: errorOf(error) });
  }

  getOperationResult({ names, request, base }: GroupCall): CloudAnswer {
    const operation = this.operation(names.id ?? '');
    if (isRunning(operation)) return jsonAnswer(202, undefined, operationLinks(base, request, operation));
    return operation.error ? render(operation.error) : jsonAnswer(204);
  }

  private operation(id: string): Operation {
    const operation = this.operations.find(id);
    if (operation) return operation;
    throw new CloudError(404, 'OperationNotFound', `The operation with id '${id}' could not be found.`);
  }

  private rule(group: string, name: string): SecurityRule {
    const rule = this.groups.get(group, name);
    if (rule) return rule;
    throw new CloudError(404, 'NotFound', `Resource ${groupId(group)}/securityRules/${name} not found.`);
  }

  private ruleJson(rule: SecurityRule): Record<string, unknown> {
    const isChanging = this.operations.isChanging(rule.group, rule.name);
    const provisioningState = isChanging ? 'Updating' : rule.failed ? 'Failed' : 'Succeeded';
    return {
      name: rule.name,
      id: `${groupId(rule.group)}/securityRules/${rule.name}`,
      type: 'Microsoft.Network/networkSecurityGroups/securityRules',
      properties: { provisioningState, ...rule.properties },
    };
  }
}

function groupId(group: string): string {
  const [resourceGroup, name] = group.split('/');
  return `/subscriptions/${SUBSCRIPTION_ID}/resourceGroups/${resourceGroup}/providers/Microsoft.Network/networkSecurityGroups/${name}`;
}

function operationLinks(base: string, { query }: CloudRequest, { id }: Operation): Record<string, string> {
  const location = `${base}/subscriptions/${SUBSCRIPTION_ID}/providers/Microsoft.Network/locations/${LOCATION}`;
  const version = `api-version=${query.get('api-version')}`;
  return {
    'azure-asyncoperation': `${location}/operations/${id}?${version}`,
    location: `${location}/operationResults/${id}?${version}`,
    ...RETRY_AFTER,
  };
}
