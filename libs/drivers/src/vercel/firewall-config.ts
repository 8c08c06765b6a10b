import { isRecord } from '../untrusted-json';

export interface RuleCondition {
  readonly type: string;
  readonly op: string;
  readonly neg: boolean;
  /** null: the value is neither a string nor a list of strings */
  readonly values: readonly string[] | null;
}

/** The relevant fields of a custom rule. */
export interface CustomRule {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** enabled, and not reported as invalid by Vercel */
  readonly isActive: boolean;
  /** `deny`, `bypass` …; null: missing, or combined with a duration */
  readonly action: string | null;
  /** groups are combined with OR, the conditions of a group with AND */
  readonly groups: readonly (readonly RuleCondition[])[];
}

/** The active firewall configuration of a project. */
export interface FirewallConfig {
  readonly isEnabled: boolean;
  readonly rules: readonly CustomRule[];
  /** as custom rules; Vercel applies them before the others */
  readonly ipRules: readonly CustomRule[];
}

/** The configuration of a project that was never configured. */
export const NO_CONFIG: FirewallConfig = { isEnabled: true, rules: [], ipRules: [] };

/** @returns null when the body is not a configuration. A missing list of rules is not an empty list. */
export function readConfig(body: Readonly<Record<string, unknown>>): FirewallConfig | null {
  const { firewallEnabled, rules, ips } = body;
  if (typeof firewallEnabled !== 'boolean' || !Array.isArray(rules)) return null;
  const read = rules.map(readRule);
  const ipRules = (Array.isArray(ips) ? ips : []).map(readIpRule).filter((rule) => rule !== null);
  return read.every((rule) => rule !== null) ? { isEnabled: firewallEnabled, rules: read, ipRules } : null;
}

function readIpRule(rule: unknown): CustomRule | null {
  const { id, ip, hostname, action } = isRecord(rule) ? rule : {};
  const everyHost = { type: 'path', op: 'pre', value: '/' };
  const host = hostname === '*' ? everyHost : { type: 'host', op: 'eq', value: hostname };
  const conditions = [{ type: 'ip_address', op: 'eq', value: ip }, host];
  const [active, mitigate] = [true, { action }];
  return readRule({
    id,
    name: `the IP rule ${textOf(ip)}`,
    active,
    conditionGroup: [{ conditions }],
    action: { mitigate },
  });
}

function readRule(rule: unknown): CustomRule | null {
  if (!isRecord(rule) || typeof rule['id'] !== 'string' || rule['id'] === '') return null;
  const groups: unknown[] = Array.isArray(rule['conditionGroup']) ? rule['conditionGroup'] : [];
  return {
    id: rule['id'],
    name: textOf(rule['name']),
    description: textOf(rule['description']),
    isActive: rule['active'] === true && rule['valid'] !== false,
    action: readAction(rule['action']),
    groups: groups.map((group) =>
      isRecord(group) && Array.isArray(group['conditions']) ? group['conditions'].map(readCondition) : [],
    ),
  };
}

/** With a duration, an action continues against addresses that are allowed meanwhile: it is not the same action. */
function readAction(action: unknown): string | null {
  const mitigate = isRecord(action) ? action['mitigate'] : null;
  if (!isRecord(mitigate) || typeof mitigate['action'] !== 'string') return null;
  return mitigate['actionDuration'] ? null : mitigate['action'];
}

function readCondition(condition: unknown): RuleCondition {
  const { type, op, neg, value } = isRecord(condition) ? condition : {};
  return { type: textOf(type), op: textOf(op), neg: neg === true, values: readValues(value) };
}

function readValues(value: unknown): string[] | null {
  if (typeof value === 'string') return [value];
  const isList = Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  return isList ? value : null;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
