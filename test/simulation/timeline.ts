import type { LedgerRow } from '#engine-store';
import { lastCertain } from '#rules';
import type { Actor } from './model-cloud';
import type { RuleRow, Tables } from './tables';

/** Maximum time for which a read may show a removed rule, ms. */
const STALE_MS = 3000;

/** A time in which a rule was present, by the cloud's own record. */
interface Presence {
  readonly key: string;
  readonly isByEngine: boolean;
  readonly from: number;
  until: number;
  endedBy: Actor | null;
}

interface Interval {
  readonly from: number;
  readonly until: number;
}

/** The report's intervals of one rule, or of one of its holders. */
interface ReportedAccess {
  readonly key: string;
  readonly certain: Interval | null;
  readonly possible: Interval;
}

/** Records which rules were present, and compares the access report with that. */
export class Timeline {
  /** by target and provider's id; the last one is the current one */
  private readonly presences = new Map<string, Presence[]>();

  constructor(private readonly tables: Tables) {}

  added(target: string, key: string, providerRuleId: string, actor: Actor): void {
    const name = `${target} ${providerRuleId}`;
    const until = Number.POSITIVE_INFINITY;
    const presence = { key, isByEngine: actor !== 'outside', from: this.tables.now(), until, endedBy: null };
    this.presences.set(name, [...(this.presences.get(name) ?? []), presence]);
  }

  removed(target: string, providerRuleId: string, actor: Actor): void {
    const last = this.presences.get(`${target} ${providerRuleId}`)!.at(-1)!;
    Object.assign(last, { until: this.tables.now(), endedBy: actor });
  }

  /** @returns what is wrong or missing in the report of the whole run so far */
  mistakes(target: string): string[] {
    const reported = this.report(target);
    const presences = [...this.presences]
      .filter(([name]) => name.startsWith(`${target} `))
      .flatMap(([, some]) => some);
    const wronglyCertain = reported.flatMap(({ key, certain }) => {
      if (certain === null) return [];
      const gap = firstGap(
        certain,
        presences.filter((one) => one.key === key).map((one) => this.asRead(one)),
      );
      return gap === null ? [] : [`${key} is reported as certain at ${gap}, and was not present`];
    });
    const missing = presences.flatMap((presence) => {
      if (!presence.isByEngine) return [];
      const { key, from, until } = presence;
      const possible = reported.filter((one) => one.key === key).map((one) => one.possible);
      const gap = firstGap({ from, until: Math.min(until, this.tables.now()) }, possible);
      return gap === null ? [] : [`${key} was present at ${gap}, and is not reported as possible`];
    });
    return [...wronglyCertain, ...missing];
  }

  /** As a stale read may show it: a rule that another program removed is shown for a while. */
  private asRead({ from, until, endedBy }: Presence): Interval {
    return { from, until: endedBy === 'outside' ? until + STALE_MS : until };
  }

  /** The access report: ended intervals come from the ledger, open ones from the live rules. */
  private report(target: string): ReportedAccess[] {
    const ended = this.tables.events.flatMap((event) =>
      event.target === target && event.possibleUntil !== null ? [ofEvent(event)] : [],
    );
    const live = [...this.tables.rules.values()]
      .filter(({ targetId }) => this.tables.targets.get(targetId)!.identifier === target)
      .flatMap((rule) => this.ofRule(rule));
    return [...ended, ...live];
  }

  private ofRule(rule: RuleRow): ReportedAccess[] {
    if (rule.possibleSince === null && rule.presentSince === null) return [];
    const observed = lastCertain(rule, {
      now: this.tables.now(),
      comparedAt: this.tables.targets.get(rule.targetId)!.comparedAt,
    });
    const isCertain = rule.presentSince !== null && observed !== null && observed >= rule.presentSince;
    return [
      {
        key: rule.key,
        certain: isCertain ? { from: rule.presentSince!, until: observed } : null,
        possible: {
          from: rule.possibleSince ?? Number.NEGATIVE_INFINITY,
          until: Number.POSITIVE_INFINITY,
        },
      },
    ];
  }
}

function ofEvent(event: LedgerRow): ReportedAccess {
  const { address, protocol, ports, certainFrom, certainUntil, possibleFrom, possibleUntil } = event;
  return {
    key: `${address} ${protocol} ${ports}`,
    certain:
      certainFrom === null || certainUntil === null ? null : { from: certainFrom, until: certainUntil },
    possible: { from: possibleFrom ?? Number.NEGATIVE_INFINITY, until: possibleUntil! },
  };
}

/** @returns the first moment of the interval that no other interval covers; null: it is covered */
function firstGap({ from, until }: Interval, others: readonly Interval[]): number | null {
  let reached = from;
  for (const other of others.toSorted((one, two) => one.from - two.from)) {
    if (other.from > reached) break;
    reached = Math.max(reached, other.until);
  }
  return reached >= until ? null : reached;
}
