import { randomBytes } from 'node:crypto';
import { History } from '../ground-truth/history';
import type { World } from '../provider';
import { halfApplied } from './half-applied';
import { isGuard, listOf, ledgerRulesOf, type Firewall, type StoredRule } from './ledger-rules';
import type { ChangeInput, RuleInput } from './rule-input';
import { badRequest, limitReached, notFound } from './vercel-error';

/** Custom rules that the Pro plan allows. */
const MAX_RULES = 40;

export const PROJECTS: readonly string[] = [1, 2, 3, 4, 5].map((number) => `prj_simulated${number}`);

const EMPTY: Firewall = { isEnabled: true, isGuarded: false, rules: [] };
/** The projects' firewall configurations. A project has none until the first write. */
export class Firewalls {
  private readonly history: History<Firewall>;

  constructor(private readonly world: World) {
    this.history = new History(world, ledgerRulesOf);
  }

  reset(): void {
    this.history.clear();
  }

  /** @param asOf microseconds since 1970: the state at that time, up to ten minutes back */
  get(project: string, asOf?: number): Firewall | null {
    return this.history.get(project, asOf) ?? null;
  }

  all(): Record<string, Firewall | null> {
    return Object.fromEntries(PROJECTS.map((project) => [project, this.get(project)]));
  }

  /**
   * Applies a change.
   * @param firstHalf applies only the first half of its addresses
   * @throws CloudError
   */
  change(project: string, change: ChangeInput, firstHalf = false): void {
    const firewall = this.get(project) ?? EMPTY;
    const changed = this.changed(firewall, change, firstHalf);
    const listed = changed.rules.filter(isGuard).flatMap((rule) => listOf(rule));
    const { vercelAddresses } = this.world.sizes;
    if (listed.length > vercelAddresses)
      throw limitReached(`The configuration may hold ${vercelAddresses} addresses.`);
    if (changed.rules.length > MAX_RULES) throw limitReached(`The plan allows ${MAX_RULES} custom rules.`);
    this.write(project, changed);
  }

  /** Adds a rule before all others. */
  prepend(project: string, rule: RuleInput): StoredRule {
    const firewall = this.get(project) ?? EMPTY;
    const stored = { ...rule, id: newId(rule) };
    this.write(project, { ...firewall, rules: [stored, ...firewall.rules] });
    return stored;
  }

  private changed(firewall: Firewall, change: ChangeInput, firstHalf: boolean): Firewall {
    const { rules } = firewall;
    const applied = (before: RuleInput | null, after: RuleInput): RuleInput =>
      firstHalf ? halfApplied(before, after) : after;
    switch (change.action) {
      case 'firewallEnabled':
        return { ...firewall, isEnabled: change.value };
      case 'rules.insert':
        return {
          ...firewall,
          rules: [...rules, { ...applied(null, change.value), id: newId(change.value) }],
        };
      case 'rules.update': {
        const known = requireRule(rules, change.id);
        const updated = { ...applied(known, change.value), id: known.id };
        return { ...firewall, rules: rules.map((rule) => (rule === known ? updated : rule)) };
      }
      case 'rules.remove':
        return { ...firewall, rules: rules.filter((rule) => rule !== requireRule(rules, change.id)) };
      case 'rules.priority': {
        const moved = requireRule(rules, change.id);
        if (change.value < 0 || change.value >= rules.length) throw badRequest('`value` is out of range');
        return {
          ...firewall,
          rules: rules.filter((rule) => rule !== moved).toSpliced(change.value, 0, moved),
        };
      }
    }
  }

  /** Replaces a configuration. */
  write(project: string, changed: Firewall): void {
    const firewall = { ...changed, isGuarded: changed.isGuarded || changed.rules.some(isGuard) };
    this.history.set(project, firewall);
  }
}

function requireRule(rules: readonly StoredRule[], id: string): StoredRule {
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule) return rule;
  throw notFound(`Rule ${id} not found`);
}

const newId = ({ name }: RuleInput): string =>
  `rule_${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')}_${randomBytes(4).toString('hex').slice(0, 6)}`;
