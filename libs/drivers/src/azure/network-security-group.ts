import type { NetworkManagementClient, SecurityRule } from '@azure/arm-network';
import { RETRYABLE_KINDS } from '#rules';
import { CallFailure, isMissing } from '../call-failure';
import type { CallToken } from '../call-tokens';
import type { Deadline } from '../deadline';
import { isRecord, parseJson } from '../untrusted-json';
import { lateRefusal, toFailure, unexpectedResponse } from './azure-errors';
import type { ResourceName } from './resource-id';
import { groupRule, type GroupRule } from './rule-mapping';

/** A response as the SDK reports it. */
interface RawResponse {
  readonly status: number;
  readonly bodyAsText?: string | null;
  readonly headers: { get(name: string): string | undefined };
}

interface OperationOptions {
  readonly onResponse: (response: RawResponse) => void;
}

/** One change of one rule. */
interface Change {
  /** for error messages */
  readonly operation: string;
  readonly ruleName: string;
  readonly begin: (options: OperationOptions) => Promise<Poller>;
  /** whether the last response confirms the change */
  readonly isConfirmedBy: (last: RawResponse | undefined) => boolean;
  /** whether the observed rule, null: none, shows that the change is done */
  readonly isDone: (observed: GroupRule | null) => boolean;
}

interface Poller {
  isDone(): boolean;
  poll(): Promise<void>;
}

export interface GroupAccess {
  readonly client: NetworkManagementClient;
  readonly token: CallToken<string>;
  readonly clientSecret: string;
  readonly deadline: Deadline;
}

const NO_CONTENT = 204;
const EARLY_POLLS = 4;
const EARLY_PAUSE_MS = 500;
const PAUSE_MS = 2000;

/** The API calls on one network security group. Each throws CallFailure, also for a malformed response. */
export class NetworkSecurityGroup {
  constructor(
    readonly group: ResourceName,
    private readonly access: GroupAccess,
  ) {}

  /** Checks that the group exists and the credential may read it. */
  async describe(): Promise<void> {
    const { resourceGroup, name } = this.group;
    const observed = await this.call(() => this.access.client.networkSecurityGroups.get(resourceGroup, name));
    if (observed.name?.toLowerCase() !== name.toLowerCase())
      throw unexpectedResponse('the read of the group');
  }

  /** Every rule of the group, including outbound rules, all pages. */
  async readRules(): Promise<GroupRule[]> {
    const { resourceGroup, name } = this.group;
    let response: RawResponse | undefined;
    const options = { onResponse: (received: RawResponse) => (response = received) };
    const seen = new Set<string>();
    const rules: GroupRule[] = [];
    await this.call(async () => {
      for await (const page of this.access.client.securityRules.list(resourceGroup, name, options).byPage()) {
        rules.push(...page.map(readRule));
        const next = nextPage(response);
        if (next === null) break;
        if (seen.has(next)) throw unexpectedResponse('the list of rules');
        seen.add(next);
      }
    });
    return rules;
  }

  /** Writes a rule and waits until the operation has completed. */
  async write(ruleName: string, rule: SecurityRule): Promise<void> {
    const { resourceGroup, name } = this.group;
    const written = groupRule({ ...rule, name: ruleName });
    await this.runOperation({
      operation: 'the write of a rule',
      begin: (options) =>
        this.access.client.securityRules.beginCreateOrUpdate(resourceGroup, name, ruleName, rule, options),
      // The SDK treats any successful response without an operation status as completion.
      isConfirmedBy: (last) => confirmsRule(last, ruleName),
      ruleName,
      isDone: (observed) => written !== null && observed !== null && isSameRule(observed, written),
    });
  }

  /** Deletes a rule and waits until the operation has completed. @returns whether it was there: Azure accepts either */
  async remove(ruleName: string): Promise<boolean> {
    const { resourceGroup, name } = this.group;
    const accepted = await this.runOperation({
      operation: 'the removal of a rule',
      begin: (options) =>
        this.access.client.securityRules.beginDelete(resourceGroup, name, ruleName, options),
      isConfirmedBy: confirmsDeletion,
      ruleName,
      isDone: (observed) => observed === null,
    });
    return accepted.status !== NO_CONTENT;
  }

  /** Masked in error messages. */
  private get secrets(): string[] {
    return [this.access.clientSecret, this.access.token.current];
  }

  /** Starts an asynchronous change and waits until it has completed. @returns the response that accepted it */
  private async runOperation(change: Change): Promise<RawResponse> {
    let accepted: RawResponse | undefined;
    let last: RawResponse | undefined;
    const onResponse = (response: RawResponse): void => {
      if (response.status < 300) accepted ??= response;
      last = response;
    };
    try {
      const poller = await change.begin({ onResponse });
      // `begin` has polled once, as soon as the change was accepted.
      for (let poll = 1; !poller.isDone(); poll += 1) {
        await this.access.deadline.pause(pauseBefore(poll));
        await poller.poll();
      }
    } catch (error) {
      const failure = toFailure(error, this.secrets);
      if (!accepted) throw failure;
      if (last && hasFailed(last)) throw lateRefusal(bodyOf(last), this.secrets);
      if (failure.kind !== 'denied') throw stillInProgress(failure);
      await this.pollRule(change, failure);
      return accepted;
    }
    if (!accepted || !change.isConfirmedBy(last)) throw unexpectedResponse(change.operation);
    return accepted;
  }

  /** Waits for a change by reading its rule, when the credential may not poll the operation. */
  private async pollRule({ ruleName, isDone }: Change, refused: CallFailure): Promise<void> {
    try {
      for (let poll = 1; ; poll += 1) {
        const observed = await this.find(ruleName);
        if (isDone(observed)) return;
        // The failure may be older than this change: the outcome is unknown.
        if (observed?.state === 'failed') break;
        await this.access.deadline.pause(pauseBefore(poll));
      }
    } catch (error) {
      throw stillInProgress(toFailure(error, this.secrets));
    }
    throw stillInProgress(refused);
  }

  /** @returns null when there is no such rule */
  private async find(ruleName: string): Promise<GroupRule | null> {
    const { resourceGroup, name } = this.group;
    try {
      return readRule(
        await this.call(() => this.access.client.securityRules.get(resourceGroup, name, ruleName)),
      );
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  private async call<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      throw toFailure(error, this.secrets);
    }
  }
}

/**
 * The pause before a poll of a change, counted from 1. Azure suggests ten seconds for every change, but most take one or two,
 * and a change whose end is not seen within its deadline is in doubt.
 */
export const pauseBefore = (poll: number): number => (poll <= EARLY_POLLS ? EARLY_PAUSE_MS : PAUSE_MS);

/**
 * The failure for an accepted change whose completion was not observed. A refused poll says nothing about this change or
 * later ones, so the failure is of a retryable kind.
 */
function stillInProgress({ kind, message, retryAfterMs }: CallFailure): CallFailure {
  const retryableKind = RETRYABLE_KINDS.has(kind) ? kind : 'transient';
  return new CallFailure(
    retryableKind,
    `Azure accepted the change, its completion is unknown: ${message}`,
    null,
    false,
    retryAfterMs,
  );
}

const isSameRule = (observed: GroupRule, written: GroupRule): boolean =>
  observed.state === 'settled' && contentOf(observed) === contentOf(written);

const contentOf = ({ keys, isPlain, mark, priority }: GroupRule): string =>
  JSON.stringify([keys, isPlain, mark, priority]);

/** Whether Azure reports that an accepted operation failed. */
function hasFailed(response: RawResponse): boolean {
  const state = bodyOf(response).status;
  return response.status === 200 && typeof state === 'string' && /^(failed|canceled|cancelled)$/i.test(state);
}

/** The raw body: the SDK's model hides malformed parts. Empty when it is not a JSON object. */
function bodyOf(response: RawResponse | undefined): Readonly<Record<string, unknown>> {
  const body = parseJson(response?.bodyAsText ?? '');
  return isRecord(body) ? body : {};
}

function confirmsRule(response: RawResponse | undefined, ruleName: string): boolean {
  const { name, properties } = bodyOf(response);
  if (typeof name !== 'string' || name.toLowerCase() !== ruleName.toLowerCase()) return false;
  if (typeof properties !== 'object' || properties === null) return false;
  return !('provisioningState' in properties) || properties.provisioningState === 'Succeeded';
}

/** True for an empty body or an operation that has succeeded. */
function confirmsDeletion(response: RawResponse | undefined): boolean {
  if (!response?.bodyAsText) return response !== undefined;
  const { status } = bodyOf(response);
  return typeof status === 'string' && status.toLowerCase() === 'succeeded';
}

function readRule(rule: SecurityRule): GroupRule {
  const read = groupRule(rule);
  if (read) return read;
  throw unexpectedResponse('the list of rules');
}

/** A missing list is not an empty list: read as "no rules", it would end active sessions. */
function nextPage(response: RawResponse | undefined): string | null {
  const { value, nextLink } = bodyOf(response);
  if (!Array.isArray(value)) throw unexpectedResponse('the list of rules');
  return typeof nextLink === 'string' && nextLink !== '' ? nextLink : null;
}
