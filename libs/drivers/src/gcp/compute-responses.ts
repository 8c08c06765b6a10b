import { isRecord } from '../untrusted-json';
import type { FirewallRule, FirewallTraffic } from './firewall-mapping';
import { unexpectedResponse } from './gcp-errors';

/** The state of an asynchronous write. */
export interface Operation {
  readonly name: string;
  readonly isDone: boolean;
  /** the firewall rule's numeric id; null: not given */
  readonly targetId: string | null;
  readonly status: number;
  readonly errors: readonly { readonly code?: string | null; readonly message?: string | null }[];
}

export interface FirewallPage {
  readonly rules: FirewallRule[];
  readonly next?: string;
}

/** Warnings of a list response that do not mean that the list is incomplete. */
const HARMLESS_WARNINGS: ReadonlySet<string> = new Set(['NO_RESULTS_ON_PAGE', 'DEPRECATED_RESOURCE_USED']);

type Fields = Readonly<Record<string, unknown>>;

/** Reads typed fields of a response. Throws CallFailure when a field has an unexpected type. */
class ResponseFields {
  constructor(
    private readonly fields: Fields,
    private readonly call: string,
  ) {}

  text(name: string): string | null {
    return this.field(name, (value): value is string => typeof value === 'string');
  }

  integer(name: string): number | null {
    return this.field(name, (value): value is number => Number.isInteger(value));
  }

  boolean(name: string): boolean | null {
    return this.field(name, (value): value is boolean => typeof value === 'boolean');
  }

  textList(name: string): string[] | null {
    return this.field(
      name,
      (value): value is string[] => Array.isArray(value) && value.every((item) => typeof item === 'string'),
    );
  }

  object(name: string): ResponseFields | null {
    const found = this.field(name, isRecord);
    return found && new ResponseFields(found, this.call);
  }

  objects(name: string): ResponseFields[] {
    const found = this.field(
      name,
      (value): value is Fields[] => Array.isArray(value) && value.every(isRecord),
    );
    return (found ?? []).map((fields) => new ResponseFields(fields, this.call));
  }

  private field<T>(name: string, fits: (value: unknown) => value is T): T | null {
    const value = this.fields[name] ?? null;
    if (value === null) return null;
    if (!fits(value)) throw unexpectedResponse(this.call);
    return value;
  }
}

/** @throws CallFailure when the response is not an operation */
export function readOperation(fields: Fields, call: string): Operation {
  const response = new ResponseFields(fields, call);
  const name = response.text('name');
  const status = response.text('status');
  const isKnown = status === 'PENDING' || status === 'RUNNING' || status === 'DONE';
  if (response.text('kind') !== 'compute#operation' || !name || !isKnown) throw unexpectedResponse(call);
  const targetId = response.text('targetId');
  const httpStatus = response.integer('httpErrorStatusCode') ?? 0;
  const errors = (response.object('error')?.objects('errors') ?? []).map((error) => ({
    code: error.text('code'),
    message: error.text('message'),
  }));
  const isUnexplained = httpStatus >= 400 && errors.length === 0;
  return {
    name,
    isDone: status === 'DONE',
    targetId: targetId === '0' ? null : targetId,
    status: httpStatus,
    errors: isUnexplained ? [{ code: null, message: `HTTP ${httpStatus}` }] : errors,
  };
}

function firewallIn(response: ResponseFields): FirewallRule {
  return {
    id: response.text('id'),
    name: response.text('name'),
    network: response.text('network'),
    direction: response.text('direction'),
    disabled: response.boolean('disabled'),
    description: response.text('description'),
    sourceRanges: response.textList('sourceRanges'),
    destinationRanges: response.textList('destinationRanges'),
    targetTags: response.textList('targetTags'),
    targetServiceAccounts: response.textList('targetServiceAccounts'),
    allowed: trafficIn(response.objects('allowed')),
    denied: trafficIn(response.objects('denied')),
    priority: response.integer('priority'),
    sourceTags: response.textList('sourceTags'),
    sourceServiceAccounts: response.textList('sourceServiceAccounts'),
  };
}

const trafficIn = (entries: readonly ResponseFields[]): FirewallTraffic[] =>
  entries.map((entry) => ({ IPProtocol: entry.text('IPProtocol'), ports: entry.textList('ports') }));

/** @throws CallFailure when the response is not the rule with that name */
export function readFirewall(fields: Fields, name: string, call: string): FirewallRule {
  const rule = firewallIn(new ResponseFields(fields, call));
  if (rule.name !== name) throw unexpectedResponse(call);
  return rule;
}

/** @throws CallFailure when the response is not a page, or may be incomplete */
export function readFirewallPage(fields: Fields, call: string): FirewallPage {
  const response = new ResponseFields(fields, call);
  const rules = response.objects('items').map(firewallIn);
  const warning = response.object('warning')?.text('code');
  // Compute omits an empty list: only `kind` shows that the response is a list.
  const isComplete =
    response.text('kind') === 'compute#firewallList' &&
    (!warning || HARMLESS_WARNINGS.has(warning)) &&
    rules.every(({ id, name, direction }) => id && name && direction);
  if (!isComplete) throw unexpectedResponse(call);
  const next = response.text('nextPageToken');
  return { rules, ...(next && { next }) };
}

export const readName = (fields: Fields, call: string): string | null =>
  new ResponseFields(fields, call).text('name');

export const readPermissions = (fields: Fields, call: string): string[] =>
  new ResponseFields(fields, call).textList('permissions') ?? [];
