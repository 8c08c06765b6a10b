import { bisect, formatMark, ruleKey, type ChangeResult } from '#rules';
import { asCallFailure, refused, type CallFailure } from '../call-failure';
import { Outcomes } from '../outcomes';
import {
  byAction,
  type AddChange,
  type CloudTarget,
  type RemoveChange,
  type RuleChange,
} from '../provider-driver';
import type { AccessList, Entry, NewEntry } from './access-list';
import { isDuplicate } from './atlas-errors';

export const isOurs = ({ mark }: Entry, { deployment }: Pick<CloudTarget, 'deployment'>): boolean =>
  mark?.deployment === deployment;

/**
 * Its address, so that an edited comment does not change it. An entry of another deployment, and one without a mark that is
 * there to stay, have a different id, so that they are not mistaken for ours at the same address.
 */
export function idOf({ cidr, mark, endsAt }: Entry, deployment: string): string {
  if (mark) return mark.deployment === deployment ? cidr : `${cidr}#${mark.deployment}`;
  return endsAt === null ? `${cidr}#permanent` : cidr;
}

interface Addition {
  /** key in the outcomes */
  readonly key: string;
  readonly entry: NewEntry;
  /** it is on the list: it gets another end */
  readonly isRenewal: boolean;
}

/** One batch of changes of a list. Atlas allows one writer at a time: each request waits for the one before. */
export class ListBatch {
  private readonly outcomes = new Outcomes('Atlas');
  private readonly byCidr: Map<string, Entry>;
  /** no further entry fits */
  private full: CallFailure | null = null;

  /** @param entries as they were read for this batch */
  constructor(
    private readonly list: AccessList,
    private readonly target: CloudTarget,
    entries: readonly Entry[],
  ) {
    this.byCidr = new Map(entries.map((entry) => [entry.cidr, entry]));
  }

  get failure(): CallFailure | null {
    return this.outcomes.failure;
  }

  async run(changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    const { adds, removals } = byAction(changes);
    for (const removal of removals) await this.remove(removal);
    this.outcomes.beginAdditions();
    const additions = this.additionsOf(adds);
    const failure = additions.length === 0 ? null : await this.post(additions);
    if (failure) await bisect(additions, failure, this.post, (part, refusal) => this.settle(part, refusal));
    return this.outcomes.resultsOf(changes);
  }

  private async remove({ providerRuleId: id }: RemoveChange): Promise<void> {
    if (!this.canSend([id])) return;
    const cidr = id.replace(/#.*/s, '');
    const entry = this.byCidr.get(cidr);
    // another deployment's or a permanent entry has taken its place
    if (entry && idOf(entry, this.target.deployment) !== id) return this.outcomes.done(id, null);
    try {
      const wasThere = await this.list.delete(entry?.name ?? cidr);
      this.outcomes.done(id, null, wasThere ? {} : { wasAbsent: true });
      this.byCidr.delete(cidr);
    } catch (error) {
      this.outcomes.halt([id], asCallFailure(error));
    }
  }

  /** What is to be sent. A foreign entry is never sent: it would get our end, and be gone after it. */
  private additionsOf(adds: readonly AddChange[]): Addition[] {
    const unique = new Map(adds.map((add) => [ruleKey(add.spec), add]));
    return [...unique].flatMap(([key, { spec, mark, endsAt }]): Addition[] => {
      const { address: cidrBlock, protocol, ports } = spec;
      const entry = this.byCidr.get(cidrBlock);
      if (protocol !== 'all' || ports.length > 0) {
        const message = 'An entry of an access list has no protocol and no ports';
        this.outcomes.failed([key], refused('invalid', message));
        return [];
      }
      if (entry && !isOurs(entry, this.target)) {
        this.outcomes.done(key, idOf(entry, this.target.deployment));
        return [];
      }
      const end = endsAt === undefined ? {} : { deleteAfterDate: new Date(endsAt * 1000).toISOString() };
      const sent = { cidrBlock, comment: formatMark(mark), ...end };
      return [{ key, entry: sent, isRenewal: entry !== undefined }];
    });
  }

  /** @returns the refusal when some of the entries may still be added */
  private post = async (additions: readonly Addition[]): Promise<CallFailure | null> => {
    const keys = additions.map(({ key }) => key);
    if (this.full) return this.full;
    if (!this.canSend(keys)) return null;
    try {
      await this.list.post(additions.map(({ entry }) => entry));
      for (const { key, entry, isRenewal } of additions)
        this.outcomes.done(key, entry.cidrBlock, isRenewal ? {} : { isNew: true });
      return null;
    } catch (error) {
      const failure = asCallFailure(error);
      if (failure.settled && (failure.kind === 'invalid' || failure.kind === 'quota')) return failure;
      this.outcomes.halt(keys, failure);
      return null;
    }
  };

  /** Of several that were refused together, each is sent alone. */
  private async settle(part: readonly Addition[], refusal: CallFailure): Promise<boolean> {
    const [only] = part;
    if (part.length > 1 && !this.full) return false;
    if (part.length === 1 && only!.isRenewal && isDuplicate(refusal)) await this.recreate(only!);
    else
      this.outcomes.failed(
        part.map(({ key }) => key),
        refusal,
      );
    if (refusal.kind === 'quota') this.full = refusal;
    return true;
  }

  /** For an Atlas that does not change what is on the list. */
  private async recreate({ key, entry }: Addition): Promise<void> {
    if (!this.canSend([key])) return;
    try {
      await this.list.delete(this.byCidr.get(entry.cidrBlock)!.name);
      await this.list.post([entry]);
      this.outcomes.done(key, entry.cidrBlock, { isNew: true });
    } catch (error) {
      this.outcomes.halt([key], asCallFailure(error));
    }
  }

  /** Whether a request is sent that may take its full time. */
  private canSend(keys: readonly string[]): boolean {
    if (!this.outcomes.haltedBy && this.list.deadline.hasTimeFor(1)) return true;
    const failure = refused('conflict', 'The list has many changes: the others follow');
    if (this.outcomes.haltedBy) this.outcomes.unsent(keys);
    else this.outcomes.haltUnsent(keys, failure);
    return false;
  }
}
