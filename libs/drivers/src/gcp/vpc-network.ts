import { CallFailure } from '../call-failure';
import { oddAnswer } from './gcp-errors';
import { once, type ComputeApi, type ComputeClients } from './compute-clients';
import type { FirewallRule, NetworkPlace, NewFirewall } from './firewall-mapping';

/** What Compute says of a write under way. */
export interface Operation {
  readonly name: string;
  readonly isDone: boolean;
  /** the firewall rule's number; null when Compute did not say */
  readonly targetId: string | null;
  readonly status: number;
  readonly errors: readonly { readonly code?: string | null; readonly message?: string | null }[];
}

/** An Operation as the library gives it. */
interface RawOperation {
  readonly kind?: string | null;
  readonly name?: string | null;
  readonly status?: unknown;
  readonly targetId?: unknown;
  readonly httpErrorStatusCode?: number | null;
  readonly error?: { readonly errors?: Operation['errors'] | null } | null;
}

const PAGE_SIZE = 500;
/** The name of none: asked for, it tells who may not ask from who may. */
const NO_OPERATION = 'drawbridge-permission-check';
/** A call that is no wait for an operation. */
const CALL_WITHIN_MS = 5000;
/** A list may lack what stands behind it only if it says nothing like this. */
const HARMLESS_WARNINGS: ReadonlySet<string> = new Set(['NO_RESULTS_ON_PAGE', 'DEPRECATED_RESOURCE_USED']);

/** The calls Drawbridge makes on one VPC network. Each throws CallFailure, also for an answer in another shape. */
export class VpcNetwork {
  constructor(
    readonly place: NetworkPlace,
    private readonly token: string,
    private readonly api: ComputeApi,
  ) {}

  /** Succeeds when the network exists and the credential may see it. */
  async describe(): Promise<void> {
    const { project, network } = this.place;
    const [answer] = await this.call((clients) => clients.networks.get({ project, network }, once()));
    if (answer.name !== network) throw oddAnswer('networks.get');
  }

  /** The firewall rules of the network, those of other instances too, all pages. */
  async list(): Promise<FirewallRule[]> {
    const rules: FirewallRule[] = [];
    let next: string | undefined;
    do {
      const page = await this.listPage(this.place, next);
      rules.push(...page.rules);
      if (page.next !== undefined && page.next === next) throw oddAnswer('firewalls.list');
      next = page.next;
    } while (next !== undefined);
    return rules;
  }

  /** The name of any firewall rule of the project; null when it has none. */
  async anyRule(): Promise<string | null> {
    const { project } = this.place;
    const options = { ...once(), autoPaginate: false };
    const [rules] = await this.call(({ firewalls }) => firewalls.list({ project, maxResults: 1 }, options));
    return rules[0]?.name ?? null;
  }

  /** @returns those of the permissions that the credential has on a rule */
  async permissionsOn(rule: string, permissions: string[]): Promise<string[]> {
    const request = {
      project: this.place.project,
      resource: rule,
      testPermissionsRequestResource: { permissions },
    };
    const [answer] = await this.call(({ firewalls }) => firewalls.testIamPermissions(request, once()));
    return answer.permissions ?? [];
  }

  async get(name: string): Promise<FirewallRule> {
    const request = { project: this.place.project, firewall: name };
    const [answer] = await this.call(({ firewalls }) => firewalls.get(request, once()));
    if (answer.name !== name) throw oddAnswer('firewalls.get');
    return answer;
  }

  insert(rule: NewFirewall, requestId: string): Promise<Operation> {
    const request = { project: this.place.project, requestId, firewallResource: rule };
    return this.write('firewalls.insert', ({ firewalls }) => firewalls.insert(request, once()));
  }

  update(rule: NewFirewall, requestId: string): Promise<Operation> {
    const request = {
      project: this.place.project,
      requestId,
      firewall: rule.name,
      firewallResource: rule,
    };
    return this.write('firewalls.update', ({ firewalls }) => firewalls.update(request, once()));
  }

  delete(name: string, requestId: string): Promise<Operation> {
    const request = { project: this.place.project, firewall: name, requestId };
    return this.write('firewalls.delete', ({ firewalls }) => firewalls.delete(request, once()));
  }

  /** Succeeds when the credential may look at the project's operations. */
  async requireOperations(): Promise<void> {
    const request = { project: this.place.project, operation: NO_OPERATION };
    try {
      await this.call(({ operations }) => operations.get(request, once()));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  /** Answers when the operation is done, or a little before `withinMs` is over. */
  async wait(operation: string, withinMs: number): Promise<Operation> {
    const request = { project: this.place.project, operation };
    const [answer] = await this.call(({ operations }) => operations.wait(request, once()), withinMs);
    return readOperation(answer, 'globalOperations.wait');
  }

  private async listPage(
    { project, network }: NetworkPlace,
    pageToken: string | undefined,
  ): Promise<{ rules: FirewallRule[]; next?: string }> {
    const request = {
      project,
      filter: `network eq ".*/networks/${network}"`,
      maxResults: PAGE_SIZE,
      ...(pageToken !== undefined && { pageToken }),
    };
    const options = { ...once(), autoPaginate: false };
    const [rules, , answer] = await this.call(({ firewalls }) => firewalls.list(request, options));
    // Compute leaves an empty list out: only its kind tells that this is one.
    const isWhole =
      answer.kind === 'compute#firewallList' &&
      (!answer.warning?.code || HARMLESS_WARNINGS.has(answer.warning.code)) &&
      rules.every(({ id, name, direction }) => id && name && direction);
    if (!isWhole) throw oddAnswer('firewalls.list');
    return { rules, ...(answer.nextPageToken && { next: answer.nextPageToken }) };
  }

  private async write(
    call: string,
    send: (clients: ComputeClients) => Promise<readonly unknown[]>,
  ): Promise<Operation> {
    const [answer] = await this.call(send);
    const { latestResponse } = answer as { latestResponse?: RawOperation };
    return readOperation(latestResponse ?? {}, call);
  }

  private call<T>(send: (clients: ComputeClients) => Promise<T>, withinMs = CALL_WITHIN_MS): Promise<T> {
    return this.api.call({ token: this.token, withinMs }, send);
  }
}

function readOperation(raw: RawOperation, call: string): Operation {
  const { kind, name, status, targetId, error, httpErrorStatusCode } = raw;
  const isKnown = status === 'PENDING' || status === 'RUNNING' || status === 'DONE';
  if (kind !== 'compute#operation' || !name || !isKnown) throw oddAnswer(call);
  const failed = (httpErrorStatusCode ?? 0) >= 400;
  const errors = error?.errors ?? [];
  return {
    name,
    isDone: status === 'DONE',
    targetId: typeof targetId === 'string' && targetId !== '0' ? targetId : null,
    status: httpErrorStatusCode ?? 0,
    errors: failed && errors.length === 0 ? [{ code: null, message: `HTTP ${httpErrorStatusCode}` }] : errors,
  };
}

/** Whether a call failed because what it names is not there. */
export const isMissing = (error: unknown): error is CallFailure =>
  error instanceof CallFailure && error.kind === 'target-missing';
