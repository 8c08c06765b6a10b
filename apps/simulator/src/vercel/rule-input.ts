import { readAddressOrCidr } from '../cidr';
import { readJson } from '../read-json';
import { badRequest } from './vercel-error';

export interface Condition {
  readonly type: string;
  readonly op: string;
  readonly neg?: boolean;
  readonly key?: string;
  readonly value?: string | number | readonly string[];
}

/** A custom rule of a request. */
export interface RuleInput {
  readonly name: string;
  readonly description?: string;
  readonly active: boolean;
  readonly conditionGroup: readonly { readonly conditions: readonly Condition[] }[];
  readonly action: {
    readonly mitigate?: { readonly action: string; readonly actionDuration?: string | null };
  };
}

/** One change of a configuration. */
export type ChangeInput =
  | { readonly action: 'rules.insert'; readonly value: RuleInput }
  | { readonly action: 'rules.update'; readonly id: string; readonly value: RuleInput }
  | { readonly action: 'rules.remove'; readonly id: string }
  | { readonly action: 'rules.priority'; readonly id: string; readonly value: number }
  | { readonly action: 'firewallEnabled'; readonly value: boolean };

type Fields = Readonly<Record<string, unknown>>;

const TYPES: ReadonlySet<string> = new Set(
  (
    'host path method header query cookie target_path route raw_path ip_address region protocol scheme environment ' +
    'domain_environment user_agent geo_continent geo_country geo_country_region geo_city geo_as_number ja4_digest ' +
    'ja3_digest rate_limit_api_id server_action bot_name bot_category bot_status bot_protection shared_condition ' +
    'traffic_source ruleset'
  ).split(' '),
);
const OPERATORS: ReadonlySet<string> = new Set(
  're eq neq ex nex inc ninc pre suf sub gt gte lt lte list'.split(' '),
);
const MITIGATIONS: ReadonlySet<string> = new Set('log challenge deny bypass rate_limit redirect'.split(' '));
const MITIGATE_FIELDS = ['action', 'actionDuration', 'bypassSystem', 'rateLimit', 'redirect', 'logHeaders'];

/** Reads the body of a change as strictly as Vercel does. @throws CloudError */
export function readChange(body: string): ChangeInput {
  const read = readJson(body);
  if (read === undefined) throw badRequest('the body is not JSON');
  const { action, id, value } = fields(read, 'body', ['action', 'id', 'value']);
  switch (action) {
    case 'rules.insert':
      if (id !== undefined && id !== null && typeof id !== 'string')
        throw badRequest('`id` should be string');
      return { action, value: readRule(value) };
    case 'rules.update':
      return { action, id: text(id, 'id', 200), value: readRule(value) };
    case 'rules.remove':
      return { action, id: text(id, 'id', 200) };
    case 'rules.priority':
      if (typeof value !== 'number') throw badRequest('`value` should be number');
      return { action, id: text(id, 'id', 200), value };
    case 'firewallEnabled':
      return { action, value: flag(value, 'value') };
    default:
      throw badRequest('`action` should be equal to one of the allowed values');
  }
}

function readRule(value: unknown): RuleInput {
  const known = [
    'id',
    'name',
    'description',
    'active',
    'conditionGroup',
    'action',
    'valid',
    'validationErrors',
  ];
  const rule = fields(value, 'value', known);
  const groups = list(rule['conditionGroup'], 'value.conditionGroup', 25);
  const action = fields(rule['action'], 'value.action', ['mitigate']);
  return {
    name: text(rule['name'], 'value.name', 160),
    ...(rule['description'] !== undefined && {
      description: text(rule['description'], 'value.description', 256),
    }),
    active: flag(rule['active'], 'value.active'),
    conditionGroup: groups.map((group) => ({
      conditions: list(fields(group, 'conditionGroup', ['conditions'])['conditions'], 'conditions', 65).map(
        readCondition,
      ),
    })),
    action: action['mitigate'] === undefined ? {} : { mitigate: readMitigation(action['mitigate']) },
  };
}

function readMitigation(value: unknown): { action: string; actionDuration?: string | null } {
  const { action, actionDuration } = fields(value, 'mitigate', MITIGATE_FIELDS);
  const name = oneOf(action, 'mitigate.action', MITIGATIONS);
  if (actionDuration === undefined || actionDuration === null) return { action: name, actionDuration: null };
  return { action: name, actionDuration: text(actionDuration, 'mitigate.actionDuration', 20) };
}

function readCondition(given: unknown): Condition {
  const { type, op, neg, key, value } = fields(given, 'condition', ['type', 'op', 'neg', 'key', 'value']);
  const condition = {
    type: oneOf(type, 'condition.type', TYPES),
    op: oneOf(op, 'condition.op', OPERATORS),
    ...(neg !== undefined && { neg: flag(neg, 'condition.neg') }),
    ...(key !== undefined && { key: text(key, 'condition.key', 1000) }),
    ...(value !== undefined && { value: readValue(value) }),
  };
  if (condition.type === 'ip_address') addressesOf(condition).forEach(checkAddress);
  return condition;
}

function readValue(value: unknown): string | number | string[] {
  if (typeof value === 'string' || typeof value === 'number') return value;
  return list(value, 'condition.value', 75).map((entry) => text(entry, 'condition.value', 1000));
}

/** The values of a condition, as texts. */
export const addressesOf = ({ value }: Pick<Condition, 'value'>): string[] =>
  value === undefined ? [] : [value].flat().map(String);

function checkAddress(address: string): void {
  if (!readAddressOrCidr(address)) throw badRequest(`\`${address}\` should be an IP address or a CIDR`);
}

function fields(value: unknown, name: string, known: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest(`\`${name}\` should be object`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw badRequest(`should NOT have additional property \`${unknown}\``);
  return value as Fields;
}

function list(value: unknown, name: string, max: number): unknown[] {
  if (!Array.isArray(value)) throw badRequest(`\`${name}\` should be array`);
  if (value.length === 0) throw badRequest(`\`${name}\` should NOT have fewer than 1 items`);
  if (value.length > max) throw badRequest(`\`${name}\` should NOT have more than ${max} items`);
  return value;
}

function text(value: unknown, name: string, maxLength: number): string {
  if (typeof value !== 'string' || value === '') throw badRequest(`\`${name}\` should be string`);
  if (value.length > maxLength)
    throw badRequest(`\`${name}\` should NOT have more than ${maxLength} characters`);
  return value;
}

function flag(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value;
  throw badRequest(`\`${name}\` should be boolean`);
}

function oneOf(value: unknown, name: string, allowed: ReadonlySet<string>): string {
  if (typeof value === 'string' && allowed.has(value)) return value;
  throw badRequest(`\`${name}\` should be equal to one of the allowed values`);
}
