import { randomUUID } from 'node:crypto';
import { parseMark, ruleKey } from '#rules';
import { CallFailure } from '../call-failure';
import type { RuleChange } from '../provider-driver';
import {
  firewallOf,
  makesOnly,
  providerRuleId,
  readProviderRuleId,
  type FirewallRule,
  type NewFirewall,
} from './firewall-mapping';
import type { Operation } from './compute-answers';
import { ALREADY_EXISTS } from './gcp-errors';
import { finish, requestIdOf } from './operations';
import type { Write } from './paced-writes';
import { isMissing, type VpcNetwork } from './vpc-network';

export type AddChange = Extract<RuleChange, { action: 'add' }>;

type End = () => Promise<string | null>;

/** Deletes firewall rules. One that is gone counts as deleted. */
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
        const operation = await orGone(
          sendOnce(send, requestIdOf('delete', network.place.project, name, id)),
        );
        return async () => {
          if (operation) await orGone(finish(network, operation, deadline));
          return null;
        };
      },
    };
  });
}

/** Makes a firewall rule of each opening. One that stands already is done. */
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
    this.rule = firewallOf(network.place, add.spec, add.mark);
  }

  async start(): Promise<End> {
    const { network, rule } = this;
    const send = (requestId: string): Promise<Operation> => network.insert(rule, requestId);
    try {
      const operation = await sendOnce(
        send,
        requestIdOf('insert', network.place.project, JSON.stringify(rule)),
        () => this.stands(),
      );
      return this.endOf(operation);
    } catch (error) {
      if (!(error instanceof CallFailure) || error.code !== ALREADY_EXISTS) throw error;
      return this.adopt(error);
    }
  }

  private endOf(operation: Operation): End {
    return async () => {
      const { targetId } = await finish(this.network, operation, this.deadline);
      return targetId === null ? null : providerRuleId(this.rule.name, targetId);
    };
  }

  /** The name is taken: by this opening, by one of ours that another program has changed, or by somebody. */
  private async adopt(refusal: CallFailure): Promise<End> {
    const { network, add, rule } = this;
    const standing = await this.standing();
    if (!standing) throw new CallFailure('conflict', refusal.message, refusal.code, true);
    const id = providerRuleId(rule.name, String(standing.id));
    if (makesOnly(standing, network.place, add.spec)) return () => Promise.resolve(id);
    if (parseMark(standing.description)?.deployment === add.mark.deployment) {
      return this.endOf(await network.update(rule, randomUUID()));
    }
    const words = `A firewall rule named ${rule.name} exists, lets in something else, and is not ours`;
    throw new CallFailure('conflict', words, refusal.code, true);
  }

  private async stands(): Promise<boolean> {
    return (await this.standing()) !== null;
  }

  private async standing(): Promise<FirewallRule | null> {
    try {
      return await this.network.get(this.rule.name);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }
}

/**
 * Sends a write under a request id that a repeat of it has too. An operation that is over when it is answered may be
 * of an earlier time: when it failed, or did not leave what it should, the write is sent under another id.
 */
async function sendOnce(
  send: (requestId: string) => Promise<Operation>,
  requestId: string,
  hasWorked: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<Operation> {
  const operation = await send(requestId);
  if (!operation.isDone) return operation;
  if (operation.errors.length === 0 && (await hasWorked())) return operation;
  return send(randomUUID());
}

/** @returns null when what is to be deleted is gone */
async function orGone(deletion: Promise<Operation>): Promise<Operation | null> {
  try {
    return await deletion;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
