import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CallFailure } from '../call-failure';
import { DriverError } from '../driver-error';
import type { Verified } from '../provider-driver';
import { isRecord } from '../untrusted-json';
import type { ListState } from '../whole-list/list-change';
import { parseCluster } from './arns';
import { unexpectedResponse } from './aws-errors';
import type { AwsJson } from './aws-json';
import { ListTarget, mayWrite, NOT_CHECKED } from './list-target';

interface Endpoint extends ListState {
  readonly isPublic: boolean;
  readonly isPrivate: boolean;
  readonly takesIpv6: boolean;
}

/** An update of a cluster takes minutes. */
const RETRY_MS = 15_000;
const POLL_MS = 500;
const DESIRED_ALREADY = /already at the desired configuration/i;
/** Can never be written. */
const MALFORMED = '203.0.113.0/33';

/**
 * The public endpoint of an EKS cluster. A cluster carries out one update at a time, and shows nothing that lasts meanwhile. An
 * empty list admits everybody, and no entry admits no one: the last one is never removed.
 */
export class EksEndpoint extends ListTarget<Endpoint> {
  protected readonly name: string;
  protected readonly whenEmpty = 'open';
  protected readonly limit = 40;

  /** @param identifier the cluster's ARN */
  constructor(
    identifier: string,
    private readonly eks: AwsJson,
    protected override readonly timeLimitMs: number,
  ) {
    super();
    this.name = parseCluster(identifier)!.name;
  }

  async verify(): Promise<Verified> {
    const endpoint = await this.read();
    const isAllowed = await mayWrite(
      () => this.update([MALFORMED]),
      ['InvalidParameterException', 'InvalidRequestException', 'ResourceInUseException'],
    );
    const open = this.explain(endpoint);
    if (open !== null) throw new DriverError('invalid', open);
    const { entries, isPrivate } = endpoint;
    return {
      warnings: [
        'an update takes minutes, in which the cluster takes no other: this is for one command a day, not for every push',
        ...(isPrivate
          ? []
          : [
              'the private endpoint is off: nodes come through the list, too, and their address must stay on it',
            ]),
        ...(entries.length > 1
          ? []
          : [
              'the list has one entry: without it, rules of sessions could not be removed, because an empty list lets everybody in',
            ]),
        ...(isAllowed ? [] : [NOT_CHECKED]),
      ],
    };
  }

  protected override noEffectOf({ isPublic, entries }: Endpoint): string | null {
    if (!isPublic) return `The public endpoint of ${this.name} is off: no address is let in`;
    return entries.length === 0
      ? `The list of ${this.name} is empty, so everybody is let in: add an address of yours to it`
      : null;
  }

  protected versionsOf({ takesIpv6 }: Endpoint): readonly (4 | 6)[] {
    return takesIpv6 ? [4, 6] : [4];
  }

  /** @throws CallFailure `conflict` while the cluster is updated */
  protected async read(): Promise<Endpoint> {
    const operation = 'DescribeCluster';
    const { body } = await this.eks.call({ operation, method: 'GET', path: this.path });
    const { cluster } = body;
    if (!isRecord(cluster) || !isRecord(cluster.resourcesVpcConfig) || cluster.name !== this.name)
      throw unexpectedResponse(operation);
    if (cluster.status !== 'ACTIVE')
      throw new CallFailure('conflict', `The cluster is ${String(cluster.status)}`, null, true, RETRY_MS);
    const {
      publicAccessCidrs: entries,
      endpointPublicAccess,
      endpointPrivateAccess,
    } = cluster.resourcesVpcConfig;
    if (!Array.isArray(entries) || !entries.every((entry) => typeof entry === 'string'))
      throw unexpectedResponse(operation);
    const { kubernetesNetworkConfig: network } = cluster;
    return {
      entries,
      isPublic: endpointPublicAccess === true,
      isPrivate: endpointPrivateAccess === true,
      takesIpv6: isRecord(network) && network.ipFamily === 'ipv6',
    };
  }

  /** Waits for the update as long as the call may take. */
  protected async write(_: Endpoint, entries: readonly string[]): Promise<void> {
    const endsAt = performance.now() + this.timeLimitMs / 2;
    try {
      await this.update(entries);
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      if (DESIRED_ALREADY.test(error.message)) return;
      if (error.kind !== 'conflict') throw error;
      throw new CallFailure('conflict', error.message, error.code, true, RETRY_MS);
    }
    for (;;) {
      const failure = await this.read().then(
        () => null,
        (error: unknown) => error,
      );
      if (failure === null) return;
      const isRunning = failure instanceof CallFailure && failure.kind === 'conflict';
      if (!isRunning || performance.now() >= endsAt)
        throw new CallFailure(
          'transient',
          'AWS accepted the change and needs some minutes',
          null,
          false,
          RETRY_MS,
        );
      await pause(POLL_MS);
    }
  }

  private async update(publicAccessCidrs: readonly string[]): Promise<void> {
    const operation = 'UpdateClusterConfig';
    const { body } = await this.eks.call({
      operation,
      method: 'POST',
      path: `${this.path}/update-config`,
      body: { resourcesVpcConfig: { publicAccessCidrs }, clientRequestToken: randomUUID() },
    });
    if (!isRecord(body.update)) throw unexpectedResponse(operation);
  }

  private get path(): string {
    return `/clusters/${encodeURIComponent(this.name)}`;
  }
}
