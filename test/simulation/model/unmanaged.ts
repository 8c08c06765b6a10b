import type { UnmanagedRule, UnmanagedStore } from '#engine-store';
import type { Modelled } from './modelled';
import type { Tables, UnmanagedRow } from './tables';

/** `UnmanagedStore` in memory. */
export class ModelUnmanaged implements Modelled<UnmanagedStore> {
  constructor(private readonly tables: Tables) {}

  seen(targetId: string): UnmanagedRule[] {
    return this.tables.unmanaged
      .filter((rule) => rule.targetId === targetId)
      .map(({ key, providerRuleId }) => ({ key, providerRuleId }));
  }

  add(targetId: string, rules: readonly UnmanagedRule[], endedAgoMs: number): void {
    const { comparedAt } = this.tables.targets.get(targetId)!;
    const presentSince = this.tables.now() - endedAgoMs;
    for (const { key, providerRuleId } of rules) {
      if (this.tables.unmanaged.some((one) => isSame(one, targetId, { key, providerRuleId }))) continue;
      this.tables.unmanaged.push({ targetId, key, providerRuleId, possibleSince: comparedAt, presentSince });
    }
  }

  remove(targetId: string, rules: readonly UnmanagedRule[]): void {
    this.tables.unmanaged = this.tables.unmanaged.filter(
      (one) => !rules.some((rule) => isSame(one, targetId, rule)),
    );
  }
}

const isSame = (one: UnmanagedRow, targetId: string, { key, providerRuleId }: UnmanagedRule): boolean =>
  one.targetId === targetId && one.key === key && one.providerRuleId === providerRuleId;
