import type { ResourceConfig, RuleSpec } from '#rules';
import { asCallFailure } from '../../call-failure';
import type { Deadline } from '../../deadline';
import { DriverError } from '../../driver-error';
import { ALL_TRAFFIC, allTrafficFrom, explainOpen, refuseOpenTarget } from '../../open-target';
import {
  byAction,
  type CloudTarget,
  type Inspection,
  type RuleChange,
  type Verified,
} from '../../provider-driver';
import { writtenKeys } from '../../written-keys';
import { unexpectedResponse } from '../azure-errors';
import type { Applied, AzureTarget } from '../azure-target';
import { MAX_TIDIED } from '../group-target';
import { lockWarnings, type ArmAccessCheck } from './arm-access';
import { stillRunning, type Accepted, type ArmJson, type Json } from './arm-json';
import { ChildBatch } from './child-batch';
import { isNeutral, letsInAzure, observedChildRules, readChildRule, type ChildRule } from './child-rule';
import { isShown, type RunningOperations } from './running-operations';
import { armRoom, type ChildType, type RuleCollection } from './tables';

/** A resource of Azure, for one driver call. */
export interface ArmTarget {
  readonly target: CloudTarget;
  readonly name: string;
  readonly arm: ArmJson;
  readonly check: ArmAccessCheck;
  readonly deadline: Deadline;
  readonly running: RunningOperations;
}

/** A service whose firewall rules are objects of their own. */
export class ChildRules implements AzureTarget {
  constructor(
    private readonly type: ChildType,
    private readonly given: ArmTarget,
  ) {}

  async verify(_: ResourceConfig): Promise<Verified> {
    const { name, check } = this.given;
    const { armType, actions, limit } = this.type;
    const rules = await this.readAll();
    const closed = await this.explainClosed();
    await check.requireActions(actions.map((action) => `${armType}/${action}`));
    const locks = await check.deleteLocks();
    if (closed !== null) throw new DriverError('invalid', closed);
    refuseOpenTarget(name, ALL_TRAFFIC, accessRules(rules));
    const isNearlyFull = limit !== null && rules.length > 0.8 * limit;
    return {
      warnings: [
        ...lockWarnings(name, locks),
        ...(rules.some(letsInAzure)
          ? [`a rule of ${name} (0.0.0.0) lets in all of Azure, subscriptions of other customers included`]
          : []),
        ...(isNearlyFull ? [`${name} has ${rules.length} of ${limit} rules`] : []),
        ...this.type.warnings,
      ],
    };
  }

  async read(): Promise<Inspection> {
    return this.inspectionOf(await this.readAll(), await this.explainClosed());
  }

  async inspect(): Promise<Inspection> {
    const rules = await this.readAll();
    const leftovers = rules.filter((rule) => isNeutral(rule, this.given.target.deployment));
    if (leftovers.length === 0) return this.inspectionOf(rules, await this.explainClosed());
    try {
      for (const rule of leftovers.slice(0, MAX_TIDIED)) await this.remove(rule);
    } catch (error) {
      // they admit no traffic: the next comparison tries again
      asCallFailure(error);
    }
    return this.read();
  }

  async apply(changes: readonly RuleChange[]): Promise<Applied> {
    const { adds, removals } = byAction(changes);
    const rules = await this.readAll().catch((error: unknown) => {
      // a rule is removed by its name, also where nothing may be read
      if (adds.length === 0 && error instanceof DriverError && error.kind === 'denied') return [];
      throw error;
    });
    const batch = new ChildBatch(this, rules, this.given.target.deployment, this.given.deadline);
    for (const change of new Map(removals.map((one) => [one.providerRuleId, one])).values())
      await batch.remove(change);
    batch.outcomes.beginAdditions();
    for (const change of adds) await batch.add(change);
    return { results: batch.outcomes.resultsOf(changes), failure: batch.outcomes.failure };
  }

  collectionOf(version: 4 | 6): RuleCollection | undefined {
    return this.type.collections.find((collection) => collection.version === version);
  }

  /** @throws CallFailure `conflict` while a change is in progress */
  private async readAll(): Promise<ChildRule[]> {
    const { arm, running } = this.given;
    await running.requireIdle(this.id, arm);
    const rules: ChildRule[] = [];
    for (const collection of this.type.collections) {
      const path = `${this.id}/${collection.path}`;
      const found = await arm.list(path, this.type.apiVersion, 'the list of rules');
      rules.push(...found.map((rule) => readChildRule(collection, rule)));
    }
    return rules;
  }

  /** Writes a rule, and waits until it is in force. @param body with its addresses */
  async write(rule: Pick<ChildRule, 'collection' | 'name'>, body: Json): Promise<void> {
    const { status, body: answer, running } = await this.change('PUT', rule, body);
    if (running) return this.finish(running, (rules) => rules.some((one) => isWritten(one, rule, body)));
    const { name } = answer;
    if (status !== 202 && String(name).toLowerCase() !== rule.name.toLowerCase())
      throw unexpectedResponse('the write of a rule');
  }

  /** @returns whether it was there: Azure accepts either */
  async remove(rule: Pick<ChildRule, 'collection' | 'name'>): Promise<boolean> {
    const { status, body, running } = await this.change('DELETE', rule);
    if (running) await this.finish(running, (rules) => !rules.some((one) => isNamed(one, rule)));
    else if (Object.keys(body).length > 0) throw unexpectedResponse('the removal of a rule');
    return status !== 204;
  }

  private change(
    method: 'PUT' | 'DELETE',
    { collection, name }: Pick<ChildRule, 'collection' | 'name'>,
    body?: Json,
  ): Promise<Accepted> {
    const path = `${this.id}/${collection.path}/${encodeURIComponent(name)}`;
    const operation = method === 'PUT' ? 'the write of a rule' : 'the removal of a rule';
    return this.given.arm.change({
      operation,
      method,
      path,
      version: this.type.apiVersion,
      ...(body && { body }),
    });
  }

  /**
   * Waits for an accepted change, by its rules where the credential may not ask for the operation.
   * @throws CallFailure that is not settled, when the call's time is over
   */
  private async finish(
    running: NonNullable<Accepted['running']>,
    isDone: (rules: readonly ChildRule[]) => boolean,
  ): Promise<void> {
    const { arm, deadline } = this.given;
    const outcome = await arm.waitFor(running);
    if (outcome === 'running') this.given.running.remember(this.id, running);
    if (outcome === 'running') throw stillRunning(true);
    if (outcome === 'ended') return;
    const isDoneNow = async (): Promise<boolean> => isDone(await this.readAll());
    if (!(await isShown(deadline, isDoneNow))) throw stillRunning(true);
  }

  /** Why its rules admit no traffic, as a message; null: they do. They are accepted also where nothing reaches the server. */
  private async explainClosed(): Promise<string | null> {
    const { apiVersion, noun, publicAccess } = this.type;
    const server = await this.given.arm.get(this.id, apiVersion, `the read of the ${noun}`);
    const access = publicAccess.reduce<unknown>(
      (value, field) => (value as Json | undefined)?.[field],
      server.properties,
    );
    if (access === 'Enabled') return null;
    return `The public access to ${this.given.name} is not enabled, so its rules admit no traffic: enable public network access for selected addresses`;
  }

  /** @param noEffect why its rules admit no traffic */
  private inspectionOf(rules: readonly ChildRule[], noEffect: string | null): Inspection {
    const { target, name } = this.given;
    const observed = observedChildRules(rules, target.deployment, writtenKeys(target));
    return {
      rules: noEffect === null ? observed : observed.map((rule) => ({ ...rule, noEffect })),
      room: armRoom(this.type, rules.length),
      explainOpen: () => noEffect ?? explainOpen(name, ALL_TRAFFIC, accessRules(rules)),
    };
  }

  private get id(): string {
    return this.given.target.identifier;
  }
}

const accessRules = (rules: readonly ChildRule[]): RuleSpec[] =>
  rules.filter((rule) => !letsInAzure(rule)).flatMap(({ cidrs }) => cidrs.map(allTrafficFrom));

const isNamed = (one: ChildRule, { collection, name }: Pick<ChildRule, 'collection' | 'name'>): boolean =>
  one.collection === collection && one.name.toLowerCase() === name.toLowerCase();

const isWritten = (
  one: ChildRule,
  rule: Pick<ChildRule, 'collection' | 'name'>,
  { properties }: Json,
): boolean => isNamed(one, rule) && (properties as Json)[rule.collection.first] === one.first;
