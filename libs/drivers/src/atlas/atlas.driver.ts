import type { ChangeResult, ObservedRule, Room, RuleSpec, TargetRead } from '#rules';
import { accountKey } from '../account-key';
import { CallToken } from '../call-tokens';
import { credentialFields, requireResourceType } from '../credential-fields';
import { Deadline } from '../deadline';
import { DriverError } from '../driver-error';
import { ALL_TRAFFIC, allTrafficFrom, explainOpen, refuseOpenTarget } from '../open-target';
import type {
  CloudDriver,
  CloudTarget,
  DriverCredential,
  DriverOptions,
  Inspection,
  RuleChange,
  Verified,
} from '../provider-driver';
import { firstTypeOf } from '../provider-facts';
import { keyOfCidr } from '../whole-list/plan-rewrite';
import { AccessList, type Entry, type EntryStatus } from './access-list';
import { AtlasApi, AtlasTokens, type ServiceAccount } from './atlas-api';
import { ATLAS_FACTS, MAX_ENTRIES, PROJECT_ID } from './atlas.facts';
import { idOf, isOurs, ListBatch } from './list-batch';

const ENDPOINT = 'https://cloud.mongodb.com';
/** Part of the limit from which verification warns. */
const NEARLY_FULL = 0.8;

/**
 * The driver for the IP access lists of MongoDB Atlas' projects.
 * @param environment contains `ATLAS_URL`
 */
export function createAtlasDriver(
  environment: NodeJS.ProcessEnv,
  { callTimeoutMs = firstTypeOf(ATLAS_FACTS).traits.callTimeoutMs }: DriverOptions = {},
): CloudDriver {
  return new AtlasDriver((environment.ATLAS_URL || ENDPOINT).replace(/(?<!\/)\/+$/, ''), callTimeoutMs);
}

class AtlasDriver implements CloudDriver {
  readonly kind = 'ATLAS';
  private readonly tokens: AtlasTokens;

  constructor(
    private readonly endpoint: string,
    private readonly callTimeoutMs: number,
  ) {
    this.tokens = new AtlasTokens(endpoint);
  }

  accountKey({ credential }: CloudTarget): string {
    return accountKey('ATLAS', '', credential);
  }

  async checkCredential(credential: DriverCredential): Promise<void> {
    await this.tokens.request(accountOf(credential), new Deadline(this.callTimeoutMs));
  }

  async verify(target: CloudTarget): Promise<Verified> {
    return this.withList(target, async (list) => {
      const entries = await list.read();
      refuseOpenTarget(list.projectId, ALL_TRAFFIC, foreignRules(entries, target));
      if (entries.length <= NEARLY_FULL * MAX_ENTRIES) return {};
      return {
        warnings: [`The access list has ${entries.length} of the ${MAX_ENTRIES} entries that Atlas allows`],
      };
    });
  }

  readRules(target: CloudTarget): Promise<TargetRead> {
    return this.withList(target, async (list) => {
      const { entries, count } = await list.readCounted();
      // of the rules that the pass is about: the others were settled when they had an effect
      const asked = entries.filter(
        (entry) => isOurs(entry, target) && target.claims.has(keyOfCidr(entry.cidr)),
      );
      const statuses = await list.statuses(asked.map(({ name }) => name));
      return {
        rules: entries.map((entry) => observed(entry, target, statuses.get(entry.name))),
        room: roomOf(count),
      };
    });
  }

  inspect(target: CloudTarget): Promise<Inspection> {
    return this.withList(target, async (list) => {
      const { entries, count } = await list.readCounted();
      return {
        rules: entries.map((entry) => observed(entry, target)),
        room: roomOf(count),
        explainOpen: () => explainOpen(list.projectId, ALL_TRAFFIC, foreignRules(entries, target)),
      };
    });
  }

  async applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    if (changes.length === 0) return [];
    return this.withList(target, async (list, token) => {
      const batch = new ListBatch(list, target, await list.read());
      const results = await batch.run(changes);
      token.forgetAfter(batch.failure);
      return results;
    });
  }

  /** @throws DriverError */
  private async withList<Result>(
    target: CloudTarget,
    work: (list: AccessList, token: CallToken<string>) => Promise<Result>,
  ): Promise<Result> {
    requireResourceType(ATLAS_FACTS, target);
    // it becomes part of a path
    if (!PROJECT_ID.test(target.identifier))
      throw new DriverError('invalid', `${target.identifier} is no id of a project`);
    const deadline = new Deadline(this.callTimeoutMs);
    const token = await this.tokens.token(accountOf(target.credential), deadline);
    const list = new AccessList(target.identifier, new AtlasApi(this.endpoint, token, deadline));
    return token.run(() => work(list, token));
  }
}

function accountOf(credential: DriverCredential): ServiceAccount {
  const field = credentialFields(ATLAS_FACTS, credential);
  return { clientId: field('clientId'), clientSecret: field('clientSecret') };
}

const roomOf = (used: number): Room[] => [{ family: null, used, limit: MAX_ENTRIES, limitFrom: 'PROVIDER' }];

const foreignRules = (entries: readonly Entry[], target: CloudTarget): RuleSpec[] =>
  entries.filter((entry) => !isOurs(entry, target)).map(({ cidr }) => allTrafficFrom(cidr));

/** @param status undefined: it was not asked for */
function observed(entry: Entry, target: CloudTarget, status?: EntryStatus): ObservedRule {
  const isOwn = isOurs(entry, target);
  const { endsAt, mark } = entry;
  return {
    key: keyOfCidr(entry.cidr),
    providerRuleId: idOf(entry, target.deployment),
    ownRuleId: isOwn ? mark!.ruleId : null,
    ...(status === 'PENDING' && { inForce: false }),
    ...(status === 'FAILED' && { noEffect: 'Atlas could not apply the entry: its status is FAILED' }),
    ...(endsAt === null ? isOwn && { difference: 'it has no end of its own' } : { endsAt }),
  };
}
