import type { EC2Client } from '@aws-sdk/client-ec2';
import type { DriverErrorKind } from '#rules';
import { asCallFailure } from '../call-failure';
import { unexpectedResponse } from './aws-errors';
import type { Ec2Access } from './ec2-clients';
import type { SdkSettings } from './sdk-settings';

type CallOptions = ReturnType<SdkSettings['deadline']>;
type Send<T> = (client: EC2Client, options: CallOptions) => Promise<T>;

/** Kinds that give no verdict on a permission. `conflict` does: EC2 checked the permission before the rule. */
const INCONCLUSIVE_KINDS: ReadonlySet<DriverErrorKind> = new Set(['throttled', 'transient']);

export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

/** Base of the EC2 targets: common parts of their API calls. Each throws only CallFailure. */
export abstract class Ec2Target {
  constructor(
    private readonly access: Ec2Access,
    protected readonly settings: SdkSettings,
  ) {}

  protected call<T>(send: Send<T>): Promise<T> {
    return this.access.call((client) => send(client, this.settings.deadline()));
  }

  /**
   * Checks that the credential may send this request. A dry run always fails: with `DryRunOperation` when the request
   * would have succeeded. Any error other than a denial means permission, because the arguments are placeholders.
   */
  protected async dryRun(send: Send<unknown>): Promise<void> {
    try {
      await this.call(send);
    } catch (error) {
      const failure = asCallFailure(error);
      if (
        failure.kind === 'denied' ||
        failure.kind === 'target-missing' ||
        INCONCLUSIVE_KINDS.has(failure.kind)
      )
        throw failure;
    }
  }

  /** Reads all pages. @param operation for the error message when a page token repeats */
  protected async readAllPages<T>(
    operation: string,
    readPage: (token: string | undefined) => Promise<Page<T>>,
  ): Promise<T[]> {
    const items: T[] = [];
    let next: string | undefined;
    do {
      const page = await readPage(next);
      items.push(...page.items);
      if (page.next !== undefined && page.next === next) throw unexpectedResponse(operation);
      next = page.next;
    } while (next !== undefined);
    return items;
  }
}
