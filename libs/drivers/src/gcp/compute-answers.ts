import type { FirewallRule } from './firewall-mapping';
import { oddAnswer } from './gcp-errors';

/** What Compute says of a write under way. */
export interface Operation {
  readonly name: string;
  readonly isDone: boolean;
  /** the firewall rule's number; null when Compute did not say */
  readonly targetId: string | null;
  readonly status: number;
  readonly errors: readonly { readonly code?: string | null; readonly message?: string | null }[];
}

export interface FirewallPage {
  readonly rules: FirewallRule[];
  readonly next?: string;
}

/** A list may lack what stands behind it only if it says nothing like this. */
const HARMLESS_WARNINGS: ReadonlySet<string> = new Set(['NO_RESULTS_ON_PAGE', 'DEPRECATED_RESOURCE_USED']);

type Fields = Readonly<Record<string, unknown>>;

/** Reads fields of an answer; one of another type than Compute's makes the whole answer unusable. */
class Answer {
  constructor(
    private readonly fields: Fields,
    private readonly call: string,
  ) {}

  text(name: string): string | null {
    return this.field(name, (value): value is string => typeof value === 'string');
  }

  whole(name: string): number | null {
    return this.field(name, (value): value is number => Number.isInteger(value));
  }

  flag(name: string): boolean | null {
    return this.field(name, (value): value is boolean => typeof value === 'boolean');
  }

  texts(name: string): string[] | null {
    return this.field(
      name,
      (value): value is string[] => Array.isArray(value) && value.every((item) => typeof item === 'string'),
    );
  }

  object(name: string): Answer | null {
    const found = this.field(name, isFields);
    return found && new Answer(found, this.call);
  }

  objects(name: string): Answer[] {
    const found = this.field(
      name,
      (value): value is Fields[] => Array.isArray(value) && value.every(isFields),
    );
    return (found ?? []).map((fields) => new Answer(fields, this.call));
  }

  private field<T>(name: string, fits: (value: unknown) => value is T): T | null {
    const value = this.fields[name] ?? null;
    if (value === null) return null;
    if (!fits(value)) throw oddAnswer(this.call);
    return value;
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws CallFailure when it is none */
export function readOperation(fields: Fields, call: string): Operation {
  const answer = new Answer(fields, call);
  const name = answer.text('name');
  const status = answer.text('status');
  const isKnown = status === 'PENDING' || status === 'RUNNING' || status === 'DONE';
  if (answer.text('kind') !== 'compute#operation' || !name || !isKnown) throw oddAnswer(call);
  const targetId = answer.text('targetId');
  const httpStatus = answer.whole('httpErrorStatusCode') ?? 0;
  const errors = (answer.object('error')?.objects('errors') ?? []).map((error) => ({
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

function firewallIn(answer: Answer): FirewallRule {
  return {
    id: answer.text('id'),
    name: answer.text('name'),
    network: answer.text('network'),
    direction: answer.text('direction'),
    disabled: answer.flag('disabled'),
    description: answer.text('description'),
    sourceRanges: answer.texts('sourceRanges'),
    destinationRanges: answer.texts('destinationRanges'),
    targetTags: answer.texts('targetTags'),
    targetServiceAccounts: answer.texts('targetServiceAccounts'),
    allowed: answer.objects('allowed').map((allowed) => ({
      IPProtocol: allowed.text('IPProtocol'),
      ports: allowed.texts('ports'),
    })),
  };
}

/** @throws CallFailure when it is not the rule of that name */
export function readFirewall(fields: Fields, name: string, call: string): FirewallRule {
  const rule = firewallIn(new Answer(fields, call));
  if (rule.name !== name) throw oddAnswer(call);
  return rule;
}

/** @throws CallFailure when it is no page, or one that may lack something */
export function readFirewallPage(fields: Fields, call: string): FirewallPage {
  const answer = new Answer(fields, call);
  const rules = answer.objects('items').map(firewallIn);
  const warning = answer.object('warning')?.text('code');
  // Compute leaves an empty list out: only its kind tells that this is one.
  const isWhole =
    answer.text('kind') === 'compute#firewallList' &&
    (!warning || HARMLESS_WARNINGS.has(warning)) &&
    rules.every(({ id, name, direction }) => id && name && direction);
  if (!isWhole) throw oddAnswer(call);
  const next = answer.text('nextPageToken');
  return { rules, ...(next && { next }) };
}

export const readName = (fields: Fields, call: string): string | null =>
  new Answer(fields, call).text('name');

export const readPermissions = (fields: Fields, call: string): string[] =>
  new Answer(fields, call).texts('permissions') ?? [];
