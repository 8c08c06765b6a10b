import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { readAddressOrCidr } from '../../cidr';
import { CloudError } from '../../cloud-error';
import { halfChanged } from '../../faults/half-changed';
import type { CallModifiers } from '../../faults/serve-call';
import { cutPage } from '../../paging';
import type { CloudAnswer, CloudRequest } from '../../provider';
import { readJson } from '../../read-json';
import { badRequest, internalError, invalidContent, scopeLocked } from '../azure-error';
import { errorOf, jsonAnswer } from '../json-answer';
import { isRunning, type Operation, type Operations } from '../operations';
import { SUBSCRIPTION_ID } from '../principal';
import { isRange } from './ranges';
import type { ChildService, ListService, Service } from './service-types';
import { entriesOf, type Json, type ServiceResource, type Services } from './services';

export interface ServiceCall {
  readonly request: CloudRequest;
  readonly service: Service;
  /** `resource group/name` */
  readonly target: string;
  readonly collection: string;
  readonly rule: string;
  readonly how: CallModifiers;
  /** the change is accepted and fails later */
  readonly fails: boolean;
  /** URL of the resource manager, for links */
  readonly base: string;
}

const PAGE_SIZE = 250;
const PRIVATE = new Set(['private', 'loopback', 'linkLocal']);

/** The simulated calls on services with a firewall of their own. Each throws CloudError. */
export class ServiceCalls {
  constructor(
    private readonly services: Services,
    private readonly operations: Operations,
    /** rules that each service takes; 0: as many as the real one */
    private readonly limit: number,
    private readonly operationMs: number | undefined,
  ) {}

  get({ service, target, how }: ServiceCall): CloudAnswer {
    return jsonAnswer(200, this.resourceJson(service, target, this.services.get(target, how.asOf)));
  }

  listRules({ service, target, collection, how, request, base }: ServiceCall): CloudAnswer {
    const rules = Object.entries(this.services.get(target, how.asOf).rules[collection] ?? {});
    const sorted = rules.toSorted(([one], [other]) => (one < other ? -1 : 1));
    const token = request.query.get('$skiptoken') ?? '';
    const page = cutPage(sorted, ([name]) => name, token, PAGE_SIZE);
    if (!page) throw badRequest('InvalidSkipToken', 'The skip token is not valid.');
    const next = `${base}${idOf(service, target)}/${collection}?api-version=${request.query.get('api-version')}&$skiptoken=${page.next}`;
    const value = page.items.map(([name, properties]) =>
      ruleJson(service, target, collection, name, properties),
    );
    return jsonAnswer(200, { value, ...(page.next && { nextLink: next }) });
  }

  getRule({ service, target, collection, rule, how }: ServiceCall): CloudAnswer {
    const properties = this.services.get(target, how.asOf).rules[collection]?.[rule];
    if (properties) return jsonAnswer(200, ruleJson(service, target, collection, rule, properties));
    const type = `${service.armType}/${collection}`;
    const message = `The requested resource of type '${type}' with name '${rule}' was not found.`;
    throw new CloudError(404, 'ResourceNotFound', message);
  }

  putRule(call: ServiceCall): CloudAnswer {
    const { target, collection, rule: name } = call;
    const service = call.service as ChildService;
    if (this.services.locks.get(target) === 'ReadOnly') throw scopeLocked(idOf(service, target));
    if (!service.ruleName.test(name)) throw invalidParameter(`'${name}' is no valid name of a firewall rule`);
    const properties = readRule(service.collections[collection]!, collection, call.request.body);
    this.checkIdle(service, target);
    const resource = this.services.get(target);
    const known = resource.rules[collection]?.[name];
    const count = Object.keys(resource.rules[collection] ?? {}).length;
    if (!known && count >= (this.limit || service.limit)) throw ruleLimit(service);
    const body = ruleJson(service, target, collection, name, properties);
    return this.changed(call, known ? 200 : 201, body, withRule(resource, collection, name, properties));
  }

  deleteRule(call: ServiceCall): CloudAnswer {
    const { service, target, collection, rule: name } = call;
    if (this.services.locks.has(target)) throw scopeLocked(idOf(service, target));
    this.checkIdle(service, target);
    const resource = this.services.get(target);
    if (!resource.rules[collection]?.[name]) return jsonAnswer(204);
    return this.changed(call, 200, undefined, withRule(resource, collection, name, null));
  }

  /** A property that is sent replaces the one before; what it leaves out is gone. */
  patch(call: ServiceCall): CloudAnswer {
    const { target, how, request } = call;
    const service = call.service as ListService;
    if (this.services.locks.get(target) === 'ReadOnly') throw scopeLocked(idOf(service, target));
    const { properties = {} } = readBody(request.body) as { properties?: Json };
    this.checkIdle(service, target);
    const resource = this.services.get(target);
    const sent = properties[service.property] as Json | undefined;
    const list = sent && this.readList(service, sent);
    const before = entriesOf(service, resource).map(({ value }) => String(value));
    const after = list?.ipRules.map(({ value }) => String(value)) ?? before;
    const kept = new Set(how.firstHalf ? halfChanged(before, after) : after);
    const ipRules = [...entriesOf(service, resource), ...(list?.ipRules ?? [])].filter(
      ({ value }, index, all) =>
        kept.has(String(value)) && all.findIndex((one) => one.value === value) === index,
    );
    const applied = list && {
      [service.property]: { ...list, ipRules: how.firstHalf ? ipRules : list.ipRules },
    };
    const next = { ...resource, properties: { ...resource.properties, ...properties, ...applied } };
    const byUs = /^drawbridge\b/.test(request.headers['user-agent'] ?? '');
    const body = this.resourceJson(service, target, next);
    return this.changed(call, 200, body, withOwners(service, resource, next, byUs));
  }

  operation(id: string): CloudAnswer {
    const operation = this.operations.find(id);
    if (!operation)
      throw new CloudError(404, 'OperationNotFound', `The operation '${id}' could not be found.`);
    if (isRunning(operation)) return jsonAnswer(200, { status: 'InProgress' });
    const { error } = operation;
    const body = error ? { status: 'Failed', error: errorOf(error) } : { status: 'Succeeded' };
    return jsonAnswer(200, body);
  }

  /** Carries a change out, and answers it: at once, or with the address of its operation, which ends later. */
  private changed(
    { service, target, request, fails, base }: ServiceCall,
    status: number,
    body: unknown,
    next: ServiceResource,
  ): CloudAnswer {
    if (!service.isSlow) {
      this.services.write(target, next);
      return jsonAnswer(status, body);
    }
    const operation = this.operations.start(target, '', fails ? internalError() : null, this.operationMs);
    if (!fails) this.services.later(target, operation.endsAt, () => this.services.write(target, next));
    return jsonAnswer(202, body, operationLink(service, base, request, operation));
  }

  private checkIdle({ isSlow }: Service, target: string): void {
    if (isSlow && this.operations.isBusy(target))
      throw new CloudError(409, 'ServerIsBusy', 'Another operation is in progress. Please retry later.');
  }

  private readList(service: ListService, sent: Json): Json & { ipRules: Json[] } {
    const { ipRules = [], defaultAction } = sent as { ipRules?: Json[]; defaultAction?: string };
    if (service.requiresDefaultAction && defaultAction === undefined)
      throw invalidParameter('The property defaultAction is required.');
    if (ipRules.length > (this.limit || service.limit)) throw ruleLimit(service);
    const read = ipRules.map((rule) => ({ ...rule, value: readEntry(service, String(rule.value)) }));
    return { ...sent, defaultAction: defaultAction ?? 'Allow', ipRules: read };
  }

  private resourceJson(service: Service, target: string, { properties }: ServiceResource): Json {
    const isBusy = service.isSlow && this.operations.isBusy(target);
    return {
      id: idOf(service, target),
      name: target.split('/')[1],
      type: service.armType,
      location: 'westeurope',
      ...(service.sku && { sku: service.sku }),
      properties: { provisioningState: isBusy ? 'Updating' : 'Succeeded', ...properties },
    };
  }
}

/** @throws CloudError */
function readEntry({ refusesSmall, completesAddresses }: ListService, value: string): string {
  const cidr = readAddressOrCidr(value);
  if (cidr?.version !== 4) throw invalidParameter(`'${value}' is no IPv4 address or range.`);
  if (refusesSmall && /\/(31|32)$/.test(value))
    throw invalidParameter(`'${value}' is a small range: use addresses.`);
  if (PRIVATE.has(ipaddr.IPv4.parse(cidr.text.split('/')[0]!).range()))
    throw invalidParameter(
      `'${value}' belongs to forbidden range 10.0.0.0–10.255.255.255, 172.16… or 192.168….`,
    );
  return completesAddresses && isIPv4(value) ? `${value}/32` : value;
}

function readRule([first, last]: readonly [string, string], collection: string, body: string): Json {
  const { properties = {} } = readBody(body) as { properties?: Json };
  const version = collection === 'firewallRules' ? 4 : 6;
  const [from, to] = [String(properties[first]), String(properties[last])];
  if (!isRange(from, to, version)) throw invalidParameter(`The range ${from} to ${to} is not valid.`);
  return { [first]: from, [last]: to };
}

function readBody(body: string): Json {
  const read = readJson(body) as Json | undefined;
  if (read === undefined) throw invalidContent('it is no JSON');
  return read;
}

/** @param properties null: without the rule */
export function withRule(
  resource: ServiceResource,
  collection: string,
  name: string,
  properties: Json | null,
): ServiceResource {
  const { [name]: _, ...others } = resource.rules[collection] ?? {};
  const rules = properties === null ? others : { ...others, [name]: properties };
  return { ...resource, rules: { ...resource.rules, [collection]: rules } };
}

/** Keeps which entries are ours. @param byUs those that are new are */
export function withOwners(
  service: ListService,
  before: ServiceResource,
  after: ServiceResource,
  byUs: boolean,
): ServiceResource {
  const cidrsOf = (resource: ServiceResource): string[] =>
    entriesOf(service, resource).flatMap(({ value }) => readAddressOrCidr(String(value))?.text ?? []);
  const known = new Set(cidrsOf(before));
  const ours = cidrsOf(after).filter((cidr) => (known.has(cidr) ? before.ours.includes(cidr) : byUs));
  return { ...after, ours };
}

const idOf = ({ armType }: Service, target: string): string => {
  const [resourceGroup, name] = target.split('/');
  return `/subscriptions/${SUBSCRIPTION_ID}/resourceGroups/${resourceGroup}/providers/${armType}/${name}`;
};

const ruleJson = (
  service: Service,
  target: string,
  collection: string,
  name: string,
  properties: Json,
): Json => ({
  id: `${idOf(service, target)}/${collection}/${name}`,
  name,
  type: `${service.armType}/${collection}`,
  properties,
});

function operationLink(
  { armType }: Service,
  base: string,
  { query }: CloudRequest,
  { id }: Operation,
): Record<string, string> {
  const [namespace] = armType.split('/');
  const url = `${base}/subscriptions/${SUBSCRIPTION_ID}/providers/${namespace}/locations/westeurope/serviceOperations/${id}`;
  return { 'azure-asyncoperation': `${url}?api-version=${query.get('api-version')}` };
}

const invalidParameter = (message: string): CloudError => badRequest('InvalidParameter', message);

const ruleLimit = ({ armType, limit }: Service): CloudError =>
  armType === 'Microsoft.Sql/servers'
    ? badRequest('40611', `Servers can have at most ${limit} firewall rules.`)
    : badRequest('IpRuleCountLimitExceeded', `At most ${limit} rules are allowed.`);
