import type { CallModifiers } from '../faults/apply-fault';
import type { CloudAnswer, CloudRequest } from '../provider';
import { AzureError, internalError, scopeLocked } from './azure-error';
import { errorAnswer, jsonAnswer } from './json-answer';
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
const LOCATION = 'westeurope';

/** The simulated calls on network security groups. Each throws AzureError. */
export class GroupCalls {
  constructor(
    private readonly groups: SecurityGroups,
    private readonly operations: Operations,
  ) {}

  getGroup({ group }: GroupCall): CloudAnswer {
    const name = group.split('/')[1];
    const securityRules = this.groups.list(group).map((rule) => this.ruleJson(rule));
    const properties = { provisioningState: 'Succeeded', securityRules, defaultSecurityRules: [] };
    const type = 'Microsoft.Network/networkSecurityGroups';
    return jsonAnswer(200, { name, id: groupId(group), type, location: LOCATION, properties }, 'OK');
  }

  listRules({ group, how, request, base }: GroupCall): CloudAnswer {
    const after = readSkipToken(request.query.get('$skiptoken'));
    const rest = this.groups.list(group, how.asOf).filter(({ ordinal }) => ordinal > after);
    const page = rest.slice(0, PAGE_SIZE);
    const last = page.at(-1);
    const version = request.query.get('api-version');
    const value = page.map((rule) => this.ruleJson(rule));
    const nextLink =
      last && rest.length > page.length
        ? `${base}${groupId(group)}/securityRules?api-version=${version}&$skiptoken=${writeSkipToken(last.ordinal)}`
        : undefined;
    return jsonAnswer(200, { value, ...(nextLink && { nextLink }) }, 'OK');
  }

  getRule({ group, names }: GroupCall): CloudAnswer {
    return jsonAnswer(200, this.ruleJson(this.rule(group, names.rule ?? '')), 'OK');
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
    return jsonAnswer(isNew ? 201 : 200, body, 'OK', operationLinks(base, request, operation));
  }

  deleteRule({ group, names, request, fails, base }: GroupCall): CloudAnswer {
    if (this.groups.locks.has(group)) throw scopeLocked(groupId(group));
    const rule = this.groups.get(group, names.rule ?? '');
    if (!rule) return jsonAnswer(204, undefined, 'OK');
    this.groups.checkIdle(group);
    if (!fails) this.groups.remove(rule);
    const operation = this.operations.start(group, rule.name, fails ? internalError() : null);
    return jsonAnswer(202, undefined, 'OK', operationLinks(base, request, operation));
  }

  listPermissions({ granted }: GroupCall): CloudAnswer {
    return jsonAnswer(200, { value: [{ actions: granted, notActions: [] }] }, 'OK');
  }

  listLocks({ group }: GroupCall): CloudAnswer {
    const level = this.groups.locks.get(group);
    return jsonAnswer(200, { value: level ? [{ name: 'simulated-lock', properties: { level } }] : [] }, 'OK');
  }

  getOperation({ names }: GroupCall): CloudAnswer {
    const operation = this.operation(names.id ?? '');
    if (isRunning(operation)) return jsonAnswer(200, { status: 'InProgress' }, 'OK');
    const { error } = operation;
    if (!error) return jsonAnswer(200, { status: 'Succeeded' }, 'OK');
    const { code, message, details } = error;
    return jsonAnswer(200, { status: 'Failed', error: { code, message, details } }, 'OK');
  }

  getOperationResult({ names, request, base }: GroupCall): CloudAnswer {
    const operation = this.operation(names.id ?? '');
    if (isRunning(operation))
      return jsonAnswer(202, undefined, 'OK', operationLinks(base, request, operation));
    return operation.error ? errorAnswer(operation.error) : jsonAnswer(204, undefined, 'OK');
  }

  private operation(id: string): Operation {
    const operation = this.operations.find(id);
    if (operation) return operation;
    throw new AzureError(404, 'OperationNotFound', `The operation with id '${id}' could not be found.`);
  }

  private rule(group: string, name: string): SecurityRule {
    const rule = this.groups.get(group, name);
    if (rule) return rule;
    throw new AzureError(404, 'NotFound', `Resource ${groupId(group)}/securityRules/${name} not found.`);
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
  };
}

const writeSkipToken = (ordinal: number): string => Buffer.from(`after:${ordinal}`).toString('base64url');

function readSkipToken(token: string | null): number {
  if (token === null) return Number.NEGATIVE_INFINITY;
  const [, ordinal] = /^after:(\d+)$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (ordinal !== undefined) return Number(ordinal);
  throw new AzureError(400, 'InvalidSkipToken', 'The skip token is not valid.');
}
