import { randomUUID } from 'node:crypto';
import { parseMark, ruleKey } from '#rules';
import { CallFailure, isMissing } from '../call-failure';
import type { AddChange } from '../provider-driver';
import {
  firewallOf,
  isAsWritten,
  providerRuleId,
  readProviderRuleId,
  type FirewallRule,
  type NewFirewall,
} from './firewall-mapping';
import type { Operation } from './compute-messages';
import { ALREADY_EXISTS } from './gcp-errors';
import { requestIdOf, waitForOperation } from './operations';
import type { AwaitCompletion, Write } from './paced-writes';
import type { VpcNetwork } from './vpc-network';

/** Writes that delete firewall rules. An absent rule counts as deleted. */
export function removalsOf(
  network: VpcNetwork,
  providerRuleIds: readonly string[],
  deadline: number,
): Write[] {
  return [...new Set(providerRuleIds)].map((key) => {
    const { name, id } = readProviderRuleId(key);
    const send = (requestId: string): Promise<Operation> => network.delete(name, requestId);
    return {
      key,
      start: async () => {
        const operation = await nullIfMissing(
          sendIdempotently(send, requestIdOf('delete', network.target.project, name, id)),
        );
        return async () => {
          if (operation) await nullIfMissing(waitForOperation(network, operation, deadline));
          return { id: null, ...(!operation && { wasAbsent: true as const }) };
        };
      },
    };
  });
}

/** Writes that create one firewall rule per RuleSpec. An existing rule counts as done. */
export function additionsOf(network: VpcNetwork, adds: readonly AddChange[], deadline: number): Write[] {
  const unique = new Map(adds.map((add) => [ruleKey(add.spec), add]));
  return [...unique].map(([key, add]) => ({
    key,
    start: () => new Addition(network, add, deadline).start(),
  }));
}

class Addition {
  private readonly rule: NewFirewall;

  constructor(
    private readonly network: VpcNetwork,
    private readonly add: AddChange,
    private readonly deadline: number,
  ) {
    this.rule = firewallOf(network.target, add.spec, add.mark);
  }

  async start(): Promise<AwaitCompletion> {
    const { network, rule } = this;
    const send = (requestId: string): Promise<Operation> => network.insert(rule, requestId);
    try {
      const operation = await sendIdempotently(
        send,
        requestIdOf('insert', network.target.project, JSON.stringify(rule)),
        () => this.isInEffect(),
      );
      return this.completionOf(operation);
    } catch (error) {
      if (!(error instanceof CallFailure) || error.code !== ALREADY_EXISTS) throw error;
      return this.resolveNameConflict(error);
    }
  }

  private completionOf(operation: Operation): AwaitCompletion {
    return async () => {
      const { targetId } = await waitForOperation(this.network, operation, this.deadline);
      return targetId === null ? { id: null } : { id: providerRuleId(this.rule.name, targetId), isNew: true };
    };
  }

  /** The name is taken by the same rule, by a rule of ours that was edited, or by an unmanaged rule. */
  private async resolveNameConflict(refusal: CallFailure): Promise<AwaitCompletion> {
    const { network, add, rule } = this;
    const existing = await this.find();
    if (!existing) throw new CallFailure('conflict', refusal.message, refusal.code, true);
    const id = providerRuleId(rule.name, String(existing.id));
    if (isAsWritten(existing, network.target, add.spec)) return () => Promise.resolve({ id });
    const isOurs = parseMark(existing.description)?.deployment === add.mark.deployment;
    if (isOurs || add.replaces?.includes(id)) {
      return this.completionOf(await network.update(rule, randomUUID()));
    }
    const message = `A firewall rule named ${rule.name} exists, allows other traffic, and is not ours`;
    throw new CallFailure('conflict', message, refusal.code, true);
  }

  /** Whether the rule is there, and does what it was written for: it may have been changed since. */
  private async isInEffect(): Promise<boolean> {
    const existing = await this.find();
    return existing !== null && isAsWritten(existing, this.network.target, this.add.spec);
  }

  private find(): Promise<FirewallRule | null> {
    return nullIfMissing(this.network.get(this.rule.name));
  }
}

/**
 * Sends a write with a deterministic request id. If the response shows a completed operation, it may belong to an
 * earlier request: if that failed, or its effect is gone, the write is sent again with a new id.
 */
async function sendIdempotently(
  send: (requestId: string) => Promise<Operation>,
  requestId: string,
  isInEffect: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<Operation> {
  const operation = await send(requestId);
  if (!operation.isDone) return operation;
  if (operation.errors.length === 0 && (await isInEffect())) return operation;
  return send(randomUUID());
}

/** @returns null when there is no such rule */
async function nullIfMissing<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
