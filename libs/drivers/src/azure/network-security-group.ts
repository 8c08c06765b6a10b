import type { NetworkManagementClient, SecurityRule } from '@azure/arm-network';
import { readRetryAfter } from '../retry-after';
import { ArmClients, type CallOptions } from './arm-clients';
import { askJson } from './ask-json';
import { AzureFailure, lateRefusal, oddAnswer, parseJson, toFailure } from './azure-errors';
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

interface Poller {
  isDone(): boolean;
  poll(): Promise<void>;
}

export interface GroupAccess {
  readonly client: NetworkManagementClient;
  readonly endpoint: string;
  readonly token: string;
  readonly secrets: readonly string[];
  readonly deadline: Deadline;
}

const PERMISSIONS_VERSION = '2022-04-01';
const FIRST_LOOK_MS = 50;
/** Azure advises ten seconds where a change is done in one or two: a look costs one of 10 000 reads in five minutes. */
const LONGEST_LOOK_MS = 2000;

/** The calls Drawbridge makes on one network security group. Each throws AzureFailure, also for an odd answer. */
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
    const last = await this.operation((options) =>
      this.access.client.securityRules.beginCreateOrUpdate(resourceGroup, name, ruleName, rule, options),
    );
    // The SDK takes any success without a word about an operation for its end.
    if (!showsRule(last, ruleName)) throw oddAnswer('the write of a rule');
  }

  /** Deletes a rule, and waits until Azure has done it. One that does not exist counts as deleted. */
  async remove(ruleName: string): Promise<void> {
    const { resourceGroup, name } = this.group;
    const last = await this.operation((options) =>
      this.access.client.securityRules.beginDelete(resourceGroup, name, ruleName, options),
    );
    if (!saysDeleted(last)) throw oddAnswer('the removal of a rule');
  }

  /** What the credential may do with the group: `{actions, notActions}` of each of its roles. */
  async permissions(): Promise<readonly { actions: readonly string[]; notActions: readonly string[] }[]> {
    const { endpoint, token, deadline, secrets } = this.access;
    const { subscriptionId, resourceGroup, name } = this.group;
    const id = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.Network/networkSecurityGroups/${name}`;
    const url = `${endpoint}${id}/providers/Microsoft.Authorization/permissions?api-version=${PERMISSIONS_VERSION}`;
    const headers = { authorization: `Bearer ${token}` };
    const { value } = await askJson({ what: 'the list of permissions', url, headers, secrets }, deadline);
    if (!Array.isArray(value)) throw oddAnswer('the list of permissions');
    return value.map((entry: { actions?: unknown; notActions?: unknown } | null) => ({
      actions: texts(entry?.actions),
      notActions: texts(entry?.notActions),
    }));
  }

  private get options(): CallOptions {
    return ArmClients.options(this.access.token, this.access.deadline);
  }

  /** A change that Azure accepts first and does then. @returns the last answer */
  private async operation(
    begin: (options: OperationOptions) => Promise<Poller>,
  ): Promise<RawAnswer | undefined> {
    let accepted = false;
    let last: RawAnswer | undefined;
    const onResponse = (answer: RawAnswer): void => {
      accepted ||= answer.status < 300;
      last = answer;
    };
    try {
      const poller = await begin({ ...this.options, onResponse });
      for (let wait = FIRST_LOOK_MS; !poller.isDone(); wait *= 2) {
        const advised = readRetryAfter(last?.headers.get('retry-after')) ?? wait;
        await this.access.deadline.pause(Math.min(advised, LONGEST_LOOK_MS));
        await poller.poll();
      }
      return last;
    } catch (error) {
      if (!accepted) throw toFailure(error, this.access.secrets);
      throw this.lateFailure(error, last);
    }
  }

  private lateFailure(error: unknown, last: RawAnswer | undefined): AzureFailure {
    const { secrets } = this.access;
    if (last && ended(last)) return lateRefusal(bodyOf(last), secrets);
    const { kind, message, retryAfterMs } = toFailure(error, secrets);
    return new AzureFailure(kind, `Azure is still at it: ${message}`, null, false, retryAfterMs);
  }

  private async call<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      throw toFailure(error, this.access.secrets);
    }
  }
}

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
