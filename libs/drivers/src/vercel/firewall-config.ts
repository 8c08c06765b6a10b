import { isRecord } from '../untrusted-json';

export interface RuleCondition {
  readonly type: string;
  readonly op: string;
  readonly neg: boolean;
  /** null: what is there is no text and no list of texts */
  readonly values: readonly string[] | null;
}

/** A custom rule as Vercel shows it, as much of it as matters here. */
export interface CustomRule {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** switched on, and valid in Vercel's eyes */
  readonly isActive: boolean;
  /** `deny`, `bypass` …; null when it does none of them, or something besides */
  readonly action: string | null;
  /** conditions in a group have to hold all together, groups each for itself */
  readonly groups: readonly (readonly RuleCondition[])[];
}

/** The active firewall configuration of a project. */
export interface FirewallConfig {
  readonly isEnabled: boolean;
  readonly rules: readonly CustomRule[];
}

/** What a project has that nobody has configured yet. */
export const NO_CONFIG: FirewallConfig = { isEnabled: true, rules: [] };

/** @returns null when the body is no configuration: no list of rules is another answer than an empty one */
export function readConfig(body: Readonly<Record<string, unknown>>): FirewallConfig | null {
  const { firewallEnabled, rules } = body;
  if (typeof firewallEnabled !== 'boolean' || !Array.isArray(rules)) return null;
  const read = rules.map(readRule);
  return read.every((rule) => rule !== null) ? { isEnabled: firewallEnabled, rules: read } : null;
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

/** An action that lasts for a while goes on against who is let in meanwhile: that is another action. */
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
