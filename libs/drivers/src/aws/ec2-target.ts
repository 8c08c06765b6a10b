import type { EC2Client } from '@aws-sdk/client-ec2';
import type { DriverErrorKind } from '#rules';
import { asCallFailure } from '../call-failure';
import { oddAnswer } from './aws-errors';
import type { Ec2Access } from './ec2-clients';
import type { SdkSettings } from './sdk-settings';

type CallOptions = ReturnType<SdkSettings['deadline']>;
type Send<T> = (client: EC2Client, options: CallOptions) => Promise<T>;

/** After these nobody knows; a rule that is not there is a conflict, and says that it was looked for. */
const PASSING: ReadonlySet<DriverErrorKind> = new Set(['throttled', 'transient']);

export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

/** One target of EC2, and what the calls on it have in common. Each throws CallFailure and nothing else. */
export abstract class Ec2Target {
  constructor(
    private readonly access: Ec2Access,
    protected readonly settings: SdkSettings,
  ) {}

  protected call<T>(send: Send<T>): Promise<T> {
    return this.access.call((client) => send(client, this.settings.deadline()));
  }

  /**
   * Asks whether the credential may send this. A dry run never succeeds: EC2 says `DryRunOperation` when it would
   * have. Any refusal but of the permission itself says that it may: what is asked about is made up.
   */
  protected async dryRun(send: Send<unknown>): Promise<void> {
    try {
      await this.call(send);
    } catch (error) {
      const failure = asCallFailure(error);
      if (failure.kind === 'denied' || failure.kind === 'target-missing' || PASSING.has(failure.kind))
        throw failure;
    }
  }

  /** @param operation whose pages they are, for the message when they lead nowhere */
  protected async everyPage<T>(
    operation: string,
    readPage: (token: string | undefined) => Promise<Page<T>>,
  ): Promise<T[]> {
    const items: T[] = [];
    let next: string | undefined;
    do {
      const page = await readPage(next);
      items.push(...page.items);
      if (page.next !== undefined && page.next === next) throw oddAnswer(operation);
      next = page.next;
    } while (next !== undefined);
    return items;
  }
}
