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

/** As `OperationMessage`. */
export interface NetworkMessage {
  readonly name?: string;
  readonly networkFirewallPolicyEnforcementOrder?: string;
}

/** All rules and policies that apply to a network. */
export interface EffectiveFirewalls {
  readonly firewalls: readonly FirewallRule[];
  readonly firewallPolicys: readonly FirewallPolicy[];
}

/** A policy in force on a network. Lists are never missing. */
export interface FirewallPolicy {
  readonly displayName?: string;
  readonly shortName?: string;
  readonly name?: string;
  readonly type?: string;
  readonly rules: readonly PolicyRule[];
}

export interface PolicyRule {
  readonly priority?: number;
  readonly action?: string;
  readonly direction?: string;
  readonly disabled?: boolean;
  readonly targetResources: readonly string[];
  readonly targetServiceAccounts: readonly string[];
  readonly targetSecureTags: readonly object[];
  readonly match?: {
    readonly srcIpRanges: readonly string[];
    readonly destIpRanges: readonly string[];
    readonly layer4Configs: readonly { readonly ipProtocol?: string; readonly ports: readonly string[] }[];
  };
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

/** @throws CallFailure when the response is not a page of the list, or may be incomplete */
export function requirePage({ kind, items, warning }: FirewallList): void {
  // Whatever else Google answers is decoded to an empty list: only `kind` shows that the response is a list.
  const isComplete =
    kind === 'compute#firewallList' &&
    (!warning || HARMLESS_WARNINGS.has(warning.code ?? '')) &&
    items.every(({ id, name, direction }) => id && name && direction);
  if (!isComplete) throw unexpectedResponse('firewalls.list');
}
