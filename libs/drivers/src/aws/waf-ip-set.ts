import { randomUUID } from 'node:crypto';
import { DriverError } from '../driver-error';
import type { Verified } from '../provider-driver';
import { isRecord } from '../untrusted-json';
import type { ListState } from '../whole-list/list-change';
import { parseIpSet, type IpSetName } from './arns';
import { unexpectedResponse } from './aws-errors';
import type { AwsJson } from './aws-json';
import { ListTarget, mayWrite, NOT_CHECKED } from './list-target';

interface IpSet extends ListState {
  readonly version: 4 | 6;
  /** of the version of the set that was read: a write with an older one is refused */
  readonly lockToken: string;
  readonly description: string | undefined;
}

const NOTE =
  'used in a rule that blocks, this set turns access into a block; the set does not say how it is used';

/** An IP set of AWS WAF: its lock token guards each write. */
export class WafIpSet extends ListTarget<IpSet> {
  protected readonly name: string;
  protected readonly whenEmpty = 'closed';
  protected readonly limit = 10_000;
  private readonly set: IpSetName;

  /** @param identifier its ARN */
  constructor(
    identifier: string,
    private readonly waf: AwsJson,
  ) {
    super();
    this.set = parseIpSet(identifier)!;
    this.name = this.set.name;
  }

  async verify(): Promise<Verified> {
    const set = await this.read();
    if (this.name.startsWith('FMManaged'))
      throw new DriverError(
        'invalid',
        `${this.name} is managed by AWS Firewall Manager, which keeps others out`,
      );
    // a token that no version of the set has: the write is refused, and by which error tells whether it is allowed
    const isAllowed = await mayWrite(
      () => this.update({ ...set, lockToken: randomUUID() }, set.entries),
      ['WAFOptimisticLockException'],
    );
    const open = this.explain(set);
    if (open !== null) throw new DriverError('invalid', open);
    return { warnings: [NOTE, ...(isAllowed ? [] : [NOT_CHECKED])] };
  }

  protected versionsOf({ version }: IpSet): readonly (4 | 6)[] {
    return [version];
  }

  protected async read(): Promise<IpSet> {
    const { IPSet: set, LockToken: lockToken } = await this.send('GetIPSet', {});
    if (!isRecord(set) || typeof lockToken !== 'string') throw unexpectedResponse('GetIPSet');
    const { Addresses: entries, IPAddressVersion: version, Description: description } = set;
    if (!Array.isArray(entries) || !entries.every((entry) => typeof entry === 'string'))
      throw unexpectedResponse('GetIPSet');
    return {
      entries,
      lockToken,
      version: version === 'IPV6' ? 6 : 4,
      description: typeof description === 'string' && description !== '' ? description : undefined,
    };
  }

  protected async write(set: IpSet, entries: readonly string[]): Promise<void> {
    await this.update(set, entries);
  }

  /** Replaces the list, and the description: it is sent back. */
  private async update({ lockToken, description }: IpSet, entries: readonly string[]): Promise<void> {
    const { NextLockToken: next } = await this.send('UpdateIPSet', {
      ...(description !== undefined && { Description: description }),
      Addresses: entries,
      LockToken: lockToken,
    });
    if (typeof next !== 'string') throw unexpectedResponse('UpdateIPSet');
  }

  private async send(
    operation: 'GetIPSet' | 'UpdateIPSet',
    body: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { name: Name, scope: Scope, id: Id } = this.set;
    const answer = await this.waf.call({
      operation,
      method: 'POST',
      path: '/',
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `AWSWAF_20190729.${operation}`,
      },
      body: { Name, Scope, Id, ...body },
    });
    return answer.body;
  }
}
