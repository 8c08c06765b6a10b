import { checkedBy } from '../http/checked-by';
import type { Kind } from '../http/fields';

export type Labels = Readonly<Record<string, string>>;
/** Of each key one of the values; of several keys each. */
type LabelSelector = Readonly<Record<string, readonly string[]>>;

const MAX_LABELS = 20;
const MAX_KEYS = 5;
const MAX_VALUES = 20;
const MAX_COMBINATIONS = 50;

const KEY = /^[a-z][a-z0-9._-]{0,62}$/;
const VALUE = /^[A-Za-z0-9][A-Za-z0-9._ -]{0,62}$/;
/** Written by the database with every resource. */
const BUILT_IN = /^drawbridge\/(?:all|provider|account|region)$/;

const KEY_FORM = 'keys of a-z, 0-9, ".", "_" and "-" that begin with a letter, such as env';
const VALUE_FORM = 'values of letters, digits, ".", "_", "-" and spaces that begin with a letter or digit';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isValue = (value: unknown): boolean => typeof value === 'string' && VALUE.test(value);

/** Those that an administrator has given. */
export const givenLabels = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !BUILT_IN.test(key)));

/**
 * What the database writes may be sent back as it was read, and counts for nothing.
 * @returns what is wrong, after the name of the field; null: nothing
 */
export function labelsRefusal(value: unknown): string | null {
  if (!isObject(value)) return 'must be an object of texts, such as {"env": "prod"}';
  const keys = Object.keys(value).filter((key) => !BUILT_IN.test(key));
  if (keys.length > MAX_LABELS) return `must hold at most ${MAX_LABELS} labels`;
  if (!keys.every((key) => KEY.test(key))) return `must hold ${KEY_FORM}`;
  return Object.values(value).every(isValue) ? null : `must hold ${VALUE_FORM}`;
}

function selectorRefusal(value: unknown): string | null {
  if (!isObject(value)) return 'must be an object of lists, such as {"env": ["prod"]}, or null';
  const entries = Object.entries(value);
  if (entries.length === 0) return 'must name a label: drawbridge/all=yes selects every resource';
  if (entries.length > MAX_KEYS) return `must hold at most ${MAX_KEYS} keys`;
  if (!entries.every(([key]) => KEY.test(key) || BUILT_IN.test(key))) return `must hold ${KEY_FORM}`;
  const isList = (list: unknown): list is unknown[] =>
    Array.isArray(list) && list.length > 0 && list.length <= MAX_VALUES && list.every(isValue);
  const lists = entries.map(([, list]) => list);
  if (!lists.every(isList)) return `must hold lists of 1 to ${MAX_VALUES} ${VALUE_FORM}`;
  const combinations = lists.reduce((product, list) => product * new Set(list).size, 1);
  return combinations <= MAX_COMBINATIONS
    ? null
    : `must have at most ${MAX_COMBINATIONS} combinations of values`;
}

const DOC = { type: 'object' } as const;

export const LABELS: Kind = {
  checks: [checkedBy('areLabels', labelsRefusal)],
  doc: {
    ...DOC,
    additionalProperties: { type: 'string' },
    maxProperties: MAX_LABELS,
    example: { env: 'prod' },
  },
};

export const SELECTOR: Kind = {
  checks: [checkedBy('isSelector', selectorRefusal)],
  doc: {
    ...DOC,
    additionalProperties: { type: 'array', items: { type: 'string' } },
    maxProperties: MAX_KEYS,
    example: { env: ['prod', 'staging'], team: ['payments'] },
  },
};

/** Whether every resource that fits `after` fits `before`, by their texts alone. */
export const isNarrower = (before: LabelSelector | null, after: LabelSelector | null): boolean =>
  after === null ||
  (before !== null &&
    Object.entries(before).every(([key, values]) => after[key]?.every((value) => values.includes(value))));
