import type { FirewallRule } from './firewall-mapping';
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

/** Compute's message about an operation, as it is decoded: any field may be missing. */
export interface OperationMessage {
  readonly kind?: string;
  readonly name?: string;
  readonly status?: string;
  readonly targetId?: string;
  readonly httpErrorStatusCode?: number;
  readonly error?: { readonly errors: Operation['errors'] };
}

/** As `OperationMessage`. */
export interface FirewallList {
  readonly kind?: string;
  readonly items: FirewallRule[];
  readonly nextPageToken?: string;
  readonly warning?: { readonly code?: string };
}

export interface FirewallPage {
  readonly rules: FirewallRule[];
  readonly next?: string;
}

/** Warnings of a list response that do not mean that the list is incomplete. */
const HARMLESS_WARNINGS: ReadonlySet<string> = new Set(['NO_RESULTS_ON_PAGE', 'DEPRECATED_RESOURCE_USED']);

/** @throws CallFailure when the response is not an operation */
export function readOperation(message: OperationMessage, call: string): Operation {
  const { kind, name, status, targetId = '0', httpErrorStatusCode = 0 } = message;
  const isKnown = status === 'PENDING' || status === 'RUNNING' || status === 'DONE';
  if (kind !== 'compute#operation' || !name || !isKnown) throw unexpectedResponse(call);
  const errors = message.error?.errors ?? [];
  const isUnexplained = httpErrorStatusCode >= 400 && errors.length === 0;
  return {
    name,
    isDone: status === 'DONE',
    targetId: targetId === '0' ? null : targetId,
    status: httpErrorStatusCode,
    errors: isUnexplained ? [{ code: null, message: `HTTP ${httpErrorStatusCode}` }] : errors,
  };
}

/** @throws CallFailure when the response is not a page, or may be incomplete */
export function readFirewallPage(
  { kind, items, warning, nextPageToken }: FirewallList,
  call: string,
): FirewallPage {
  // Whatever else Google answers is decoded to an empty list: only `kind` shows that the response is a list.
  const isComplete =
    kind === 'compute#firewallList' &&
    (!warning || HARMLESS_WARNINGS.has(warning.code ?? '')) &&
    items.every(({ id, name, direction }) => id && name && direction);
  if (!isComplete) throw unexpectedResponse(call);
  return { rules: items, ...(nextPageToken && { next: nextPageToken }) };
}
