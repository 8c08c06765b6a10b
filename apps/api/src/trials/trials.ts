import { HttpStatus, Injectable } from '@nestjs/common';
import { InjectThrottlerStorage } from '@nestjs/throttler';
import type { Principal } from '#guards';
import { Trial } from '#entities';
import { LimiterPerKey, type OrganizationId } from '#rules';
import { type RightsScope, type TrialSubject, Tenants } from '#tenant-store';
import { ApiError, tooManyRequests } from '../errors';
import type { BulkResultDto, BulkResultsDto } from '../http/bulk.dto';
import { planRefusal, type PlanRefusalDto } from '../http/plan-refusal';
import type { RequestWindows } from '../rate-limit/request-windows';
import type { ChangePlanDto, PlannedRightsDto } from './dto/change-plan.dto';

const AT_ONCE = 2;
const PER_MINUTE = 30;
const MINUTE_MS = 60_000;
const SAMPLE = 50;
/** Rights that are compared one by one. */
const MOST_PAIRS = 200_000;

/** Runs acts as they are, undoes them, and says what they would have done. */
@Injectable()
export class Trials {
  private readonly turns = new LimiterPerKey(AT_ONCE, 0);

  constructor(
    private readonly stores: Tenants,
    @InjectThrottlerStorage() private readonly windows: RequestWindows,
  ) {}

  /** For an act that is not rate limited. @throws ApiError 429 */
  async count({ userId }: Principal): Promise<void> {
    const count = await this.windows.increment(`trial ${userId}`, MINUTE_MS, PER_MINUTE);
    const seconds = count.timeToBlockExpire;
    if (count.isBlocked) throw tooManyRequests(`Too many dry runs: try again in ${seconds} seconds`, seconds);
  }

  /**
   * @param subject whose or on what rights may change; null: none change
   * @throws ApiError 400 for what is malformed; TooBusy while two others of the caller run
   */
  plan(
    { organizationId, userId }: Principal,
    subject: TrialSubject | null,
    act: () => Promise<unknown>,
  ): Promise<ChangePlanDto> {
    return this.turns.run(userId, () =>
      this.stores.database.trial((trial) => this.planIn(trial, organizationId, subject, act)),
    );
  }

  private async planIn(
    trial: Trial,
    organization: OrganizationId,
    subject: TrialSubject | null,
    act: () => Promise<unknown>,
  ): Promise<ChangePlanDto> {
    const { tx } = trial;
    const { trials } = this.stores;
    const scopeNow = (): Promise<RightsScope> => trials.scope(tx, organization, subject);
    const rightsNow = async (scope: RightsScope): Promise<readonly string[] | null> =>
      productOf(scope) > MOST_PAIRS ? null : trials.rights(tx, organization, scope);
    const was = await scopeNow();
    const { refusal, refused, is, after } = await trial.undo(async () => {
      const outcome = await outcomeOf(act);
      const scope = await scopeNow();
      return { ...outcome, is: scope, after: await rightsNow(union(was, scope)) };
    });
    const before = await rightsNow(union(was, is));
    const summarize = async (pairs: string[] | null, scope: RightsScope): Promise<PlannedRightsDto> => ({
      total: pairs && pairs.length,
      atMost: pairs ? pairs.length : productOf(scope),
      sample: await trials.listNamed(tx, organization, pairs?.slice(0, SAMPLE) ?? []),
    });
    const lost = without(before, after);
    // what was noted before it was refused would not be done
    const noted = refusal ? new Trial(tx) : trial;
    const { opened, continuing, sample, ...ends } = await trials.effects(tx, organization, noted, lost);
    return {
      dryRun: true,
      refusal,
      ...(refused.length > 0 && { refused }),
      rights: { gained: await summarize(without(after, before), is), lost: await summarize(lost, was) },
      continuing: { sessions: continuing },
      ends: { ...ends, staticIpRules: noted.staticIpRuleIds.size },
      opens: { rules: opened },
      sample,
    };
  }
}

interface Outcome {
  readonly refusal: PlanRefusalDto | null;
  /** of an act on many */
  readonly refused: BulkResultDto[];
}

/** @throws what is no refusal: the request was malformed, or failed */
async function outcomeOf(act: () => Promise<unknown>): Promise<Outcome> {
  try {
    const { results = [] } = ((await act()) ?? {}) as Partial<BulkResultsDto>;
    return { refusal: null, refused: results.filter(({ outcome }) => outcome === 'REFUSED') };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isMalformed = error.getStatus() === HttpStatus.BAD_REQUEST.valueOf() && !error.extras.isAudited;
    if (isMalformed) throw error;
    return { refusal: planRefusal(error), refused: [] };
  }
}

const productOf = ({ userIds, resourceIds }: RightsScope): number => userIds.length * resourceIds.length;

const union = (one: RightsScope, other: RightsScope): RightsScope => ({
  userIds: [...new Set([...one.userIds, ...other.userIds])],
  resourceIds: [...new Set([...one.resourceIds, ...other.resourceIds])],
});

/** null: too many to compare */
function without(pairs: readonly string[] | null, others: readonly string[] | null): string[] | null {
  if (!pairs || !others) return null;
  const known = new Set(others);
  return pairs.filter((pair) => !known.has(pair));
}
