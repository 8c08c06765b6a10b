import type { NetworkManagementClient, SecurityRule } from '@azure/arm-network';
import { RETRYABLE_KINDS } from '#rules';
import { CallFailure } from '../call-failure';
import type { CallToken } from '../call-tokens';
import { readRetryAfter } from '../retry-after';
import { parseJson } from '../untrusted-json';
import { ArmClients, type CallOptions } from './arm-clients';
import { askJson } from './ask-json';
import { lateRefusal, oddAnswer, toFailure } from './azure-errors';
import type { GroupName } from './azure.facts';
import type { Deadline } from './deadline';
import { groupRule, type GroupRule } from './rule-mapping';

/** What the SDK tells of each answer. */
interface RawAnswer {
  readonly status: number;
  readonly bodyAsText?: string | null;
  readonly headers: { get(name: string): string | undefined };
}

type OperationOptions = CallOptions & { readonly onResponse: (answer: RawAnswer) => void };

/** One change of one rule. */
interface Change {
  /** for messages */
  readonly what: string;
  readonly ruleName: string;
  readonly begin: (options: OperationOptions) => Promise<Poller>;
  /** whether the last answer proves that the change was made */
  readonly isProof: (last: RawAnswer | undefined) => boolean;
  /** whether the rule, null when there is none, shows that the change was made */
  readonly isDone: (shown: GroupRule | null) => boolean;
}

interface Poller {
  isDone(): boolean;
  poll(): Promise<void>;
}

export interface GroupAccess {
  readonly client: NetworkManagementClient;
  readonly endpoint: string;
  readonly token: CallToken<string>;
  readonly clientSecret: string;
  readonly deadline: Deadline;
}

const PERMISSIONS_VERSION = '2022-04-01';
const MIN_POLL_MS = 50;
/** Azure advises ten seconds where a change is done in one or two: a look costs one of 10 000 reads in five minutes. */
const MAX_POLL_MS = 2000;

/** The calls Drawbridge makes on one network security group. Each throws CallFailure, also for an odd answer. */
export class NetworkSecurityGroup {
  constructor(
    readonly group: GroupName,
    private readonly access: GroupAccess,
  ) {}

  /** Succeeds when the group exists and the credential may see it. */
  async describe(): Promise<void> {
    const { resourceGroup, name } = this.group;
    const shown = await this.call(() =>
      this.access.client.networkSecurityGroups.get(resourceGroup, name, this.options),
    );
    if (shown.name?.toLowerCase() !== name.toLowerCase()) throw oddAnswer('the read of the group');
  }

  /** Every rule of the group, outbound ones too, all pages. */
  async readRules(): Promise<GroupRule[]> {
    const { resourceGroup, name } = this.group;
    let answer: RawAnswer | undefined;
    const options = { ...this.options, onResponse: (raw: RawAnswer) => (answer = raw) };
    const seen = new Set<string>();
    const rules: GroupRule[] = [];
    await this.call(async () => {
      for await (const page of this.access.client.securityRules.list(resourceGroup, name, options).byPage()) {
        rules.push(...page.map(readRule));
        const next = nextPage(answer);
        if (next === null) break;
        if (seen.has(next)) throw oddAnswer('the list of rules');
        seen.add(next);
      }
    });
    return rules;
  }

  /** Writes a rule, and waits until Azure has done it. */
  async write(ruleName: string, rule: SecurityRule): Promise<void> {
    const { resourceGroup, name } = this.group;
    const written = groupRule({ ...rule, name: ruleName });
    await this.operation({
      what: 'the write of a rule',
      begin: (options) =>
        this.access.client.securityRules.beginCreateOrUpdate(resourceGroup, name, ruleName, rule, options),
      // The SDK takes any success without a word about an operation for its end.
      isProof: (last) => showsRule(last, ruleName),
      ruleName,
      isDone: (shown) => written !== null && shown !== null && isSameRule(shown, written),
    });
  }

  /** Deletes a rule, and waits until Azure has done it. One that does not exist counts as deleted. */
  async remove(ruleName: string): Promise<void> {
    const { resourceGroup, name } = this.group;
    await this.operation({
      what: 'the removal of a rule',
      begin: (options) =>
        this.access.client.securityRules.beginDelete(resourceGroup, name, ruleName, options),
      isProof: saysDeleted,
      ruleName,
      isDone: (shown) => shown === null,
    });
  }

  /** What the credential may do with the group: `{actions, notActions}` of each of its roles. */
  async permissions(): Promise<readonly { actions: readonly string[]; notActions: readonly string[] }[]> {
    const { endpoint, token, deadline } = this.access;
    const { subscriptionId, resourceGroup, name } = this.group;
    const id = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.Network/networkSecurityGroups/${name}`;
    const url = `${endpoint}${id}/providers/Microsoft.Authorization/permissions?api-version=${PERMISSIONS_VERSION}`;
    const what = 'the list of permissions';
    const { value } = await token.use((text) => {
      const headers = { authorization: `Bearer ${text}` };
      return askJson({ what, url, headers, secrets: this.secrets }, deadline);
    });
    if (!Array.isArray(value)) throw oddAnswer('the list of permissions');
    return value.map((entry: { actions?: unknown; notActions?: unknown } | null) => ({
      actions: texts(entry?.actions),
      notActions: texts(entry?.notActions),
    }));
  }

  private get options(): CallOptions {
    return ArmClients.options(this.access.deadline);
  }

  /** Texts that must not get into a message. */
  private get secrets(): string[] {
    return [this.access.clientSecret, this.access.token.current];
  }

  /** A change that Azure accepts first and does then. Returns when it is done. */
  private async operation(change: Change): Promise<void> {
    let accepted = false;
    let last: RawAnswer | undefined;
    const onResponse = (answer: RawAnswer): void => {
      accepted ||= answer.status < 300;
      last = answer;
    };
    try {
      const poller = await change.begin({ ...this.options, onResponse });
      for (let wait = MIN_POLL_MS; !poller.isDone(); wait *= 2) {
        const advised = readRetryAfter(last?.headers.get('retry-after')) ?? wait;
        await this.access.deadline.pause(Math.min(advised, MAX_POLL_MS));
        await poller.poll();
      }
    } catch (error) {
      const failure = toFailure(error, this.secrets);
      if (!accepted) throw failure;
      if (last && ended(last)) throw lateRefusal(bodyOf(last), this.secrets);
      if (failure.kind !== 'denied') throw stillRunning(failure);
      return this.watchRule(change, failure);
    }
    if (!change.isProof(last)) throw oddAnswer(change.what);
  }

  /** Where the credential may not poll an operation, the state of the rule tells that it is over. */
  private async watchRule({ ruleName, isDone }: Change, refused: CallFailure): Promise<void> {
    try {
      for (let wait = MIN_POLL_MS; ; wait *= 2) {
        const shown = await this.find(ruleName);
        if (isDone(shown)) return;
        // It may have failed before this change: only the next comparison tells.
        if (shown?.state === 'failed') break;
        await this.access.deadline.pause(Math.min(wait, MAX_POLL_MS));
      }
    } catch (error) {
      throw stillRunning(toFailure(error, this.secrets));
    }
    throw stillRunning(refused);
  }

  /** @returns null when there is no such rule */
  private async find(ruleName: string): Promise<GroupRule | null> {
    const { resourceGroup, name } = this.group;
    try {
      return readRule(
        await this.call(() =>
          this.access.client.securityRules.get(resourceGroup, name, ruleName, this.options),
        ),
      );
    } catch (error) {
      if (error instanceof CallFailure && error.kind === 'target-missing') return null;
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
 * A change that was accepted and whose end was not seen. A refused poll says nothing about it nor about the changes
 * after it, so the failure is of a kind that is tried again.
 */
function stillRunning({ kind, message, retryAfterMs }: CallFailure): CallFailure {
  const passing = RETRYABLE_KINDS.has(kind) ? kind : 'transient';
  return new CallFailure(passing, `Azure is still at it: ${message}`, null, false, retryAfterMs);
}

const isSameRule = (shown: GroupRule, written: GroupRule): boolean =>
  shown.state === 'settled' && contentOf(shown) === contentOf(written);

const contentOf = ({ keys, isPlain, mark, priority }: GroupRule): string =>
  JSON.stringify([keys, isPlain, mark, priority]);

/** Azure says that what it had accepted came to nothing. */
function ended(answer: RawAnswer): boolean {
  const state = bodyOf(answer).status;
  return answer.status === 200 && typeof state === 'string' && /^(failed|canceled|cancelled)$/i.test(state);
}

/** The answer as it came: what the SDK makes of it hides what is odd about it. Empty when it is no JSON object. */
function bodyOf(answer: RawAnswer | undefined): Readonly<Record<string, unknown>> {
  const body = parseJson(answer?.bodyAsText ?? '');
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

function showsRule(answer: RawAnswer | undefined, ruleName: string): boolean {
  const { name, properties } = bodyOf(answer);
  if (typeof name !== 'string' || name.toLowerCase() !== ruleName.toLowerCase()) return false;
  if (typeof properties !== 'object' || properties === null) return false;
  return !('provisioningState' in properties) || properties.provisioningState === 'Succeeded';
}

/** Nothing, or an operation that has succeeded. */
function saysDeleted(answer: RawAnswer | undefined): boolean {
  if (!answer?.bodyAsText) return answer !== undefined;
  const { status } = bodyOf(answer);
  return typeof status === 'string' && status.toLowerCase() === 'succeeded';
}

function readRule(rule: SecurityRule): GroupRule {
  const read = groupRule(rule);
  if (read) return read;
  throw oddAnswer('the list of rules');
}

/** No list is another answer than an empty list: read as "nothing is open", it would close sessions in the books. */
function nextPage(answer: RawAnswer | undefined): string | null {
  const { value, nextLink } = bodyOf(answer);
  if (!Array.isArray(value)) throw oddAnswer('the list of rules');
  return typeof nextLink === 'string' && nextLink !== '' ? nextLink : null;
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((text): text is string => typeof text === 'string') : [];
