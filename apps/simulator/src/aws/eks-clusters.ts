import ipaddr from 'ipaddr.js';
import { randomUUID } from 'node:crypto';
import { readCidr } from '../cidr';
import { CloudError } from '../cloud-error';
import { halfChanged } from '../faults/half-changed';
import type { CallModifiers, Refusal } from '../faults/serve-call';
import { History } from '../ground-truth/history';
import { allTrafficRule, type LedgerRule } from '../ground-truth/ledger';
import type { CloudRequest, World } from '../provider';
import { readJson } from '../read-json';
import { ACCOUNT_ID } from './credentials';
import type { Json, JsonCall, JsonService } from './json-endpoint';
import type { SignedCall } from './signature';

interface Cluster {
  readonly publicAccessCidrs: readonly string[];
  readonly endpointPublicAccess: boolean;
  /** milliseconds since 1970: until then it is updated */
  readonly updatingUntil: number;
  readonly ours: readonly string[];
}

const REGION = 'eu-central-1';
/** What another program has put on each list: an empty one lets everybody in. */
const OFFICE = '192.0.2.10/32';

export const CLUSTERS: readonly string[] = [1, 2, 3, 4, 5].map(
  (index) => `arn:aws:eks:${REGION}:${ACCOUNT_ID}:cluster/simulated-${index}`,
);

const PATH = /^\/aws\/eks\/clusters\/([^/]+)(\/update-config)?$/;
const RESERVED = new Set(['private', 'loopback', 'linkLocal', 'carrierGradeNat', 'multicast', 'unspecified']);

/** The public endpoints of EKS clusters: a list each, one update at a time. */
export class EksClusters implements JsonService {
  readonly service = 'eks';
  private readonly clusters: History<Cluster>;

  constructor(private readonly world: World) {
    this.clusters = new History(world, ledgerRulesOf);
    this.reset();
  }

  reset(): void {
    this.clusters.clear();
    for (const arn of CLUSTERS)
      this.clusters.init(arn, {
        publicAccessCidrs: [OFFICE],
        endpointPublicAccess: true,
        updatingUntil: 0,
        ours: [],
      });
  }

  read({ method, path, body }: CloudRequest): JsonCall | null {
    const [, name, update] = PATH.exec(path) ?? [];
    if (name === undefined || method !== (update ? 'POST' : 'GET')) return null;
    const arn = `arn:aws:eks:${REGION}:${ACCOUNT_ID}:cluster/${decodeURIComponent(name)}`;
    const call = { arn, target: arn, body: (readJson(body) ?? {}) as Json };
    return update
      ? { ...call, operation: 'UpdateClusterConfig', effect: 'change' }
      : { ...call, operation: 'DescribeCluster', effect: 'read' };
  }

  admit(_: JsonCall, { region }: SignedCall): void {
    if (region !== REGION) throw missing();
  }

  perform({ operation, target, body }: JsonCall, how: CallModifiers, request: CloudRequest): Json {
    const cluster = this.clusters.get(target!, how.asOf);
    if (!cluster) throw missing();
    if (operation === 'DescribeCluster') return { cluster: this.clusterJson(target!, cluster) };
    if (Date.now() < cluster.updatingUntil) throw inUse();
    const config = (body.resourcesVpcConfig ?? {}) as { publicAccessCidrs?: unknown };
    const given = readCidrs(config.publicAccessCidrs, this.world.sizes.eksCidrs);
    if (isSame(given, cluster.publicAccessCidrs))
      throw invalid('Cluster is already at the desired configuration');
    const publicAccessCidrs = how.firstHalf ? halfChanged(cluster.publicAccessCidrs, given) : given;
    const byUs = /drawbridge/.test(request.headers['user-agent'] ?? '');
    this.store(
      target!,
      { ...cluster, publicAccessCidrs, updatingUntil: Date.now() + this.world.sizes.eksUpdateMs },
      byUs,
    );
    return { update: { id: randomUUID(), status: 'InProgress', type: 'EndpointAccessUpdate' } };
  }

  refusal(why: Refusal): CloudError {
    return REFUSALS[why]();
  }

  add(target: string, address: string): string {
    const cidr = readCidr(address.includes('/') ? address : `${address}/32`);
    if (!cidr) throw invalid(`${address} is not valid`);
    const cluster = this.clusters.get(target)!;
    this.store(target, { ...cluster, publicAccessCidrs: [...cluster.publicAccessCidrs, cidr.text] }, false);
    return cidr.text;
  }

  remove(target: string, ids: readonly string[]): void {
    const cluster = this.clusters.get(target)!;
    const left = cluster.publicAccessCidrs.filter((cidr) => !ids.includes(cidr));
    this.store(target, { ...cluster, publicAccessCidrs: left }, false);
  }

  all(): Readonly<Record<string, Cluster>> {
    return Object.fromEntries(CLUSTERS.map((arn) => [arn, this.clusters.get(arn)!]));
  }

  restore(saved: Readonly<Record<string, Cluster>>): void {
    for (const arn of CLUSTERS) if (saved[arn]) this.clusters.set(arn, saved[arn]);
  }

  /** @param byUs new entries are ours */
  private store(target: string, cluster: Cluster, byUs: boolean): void {
    const before = this.clusters.get(target)!;
    const ours = cluster.publicAccessCidrs.filter((cidr) =>
      before.publicAccessCidrs.includes(cidr) ? before.ours.includes(cidr) : byUs,
    );
    this.clusters.set(target, { ...cluster, ours });
  }

  private clusterJson(
    arn: string,
    { publicAccessCidrs, endpointPublicAccess, updatingUntil }: Cluster,
  ): Json {
    return {
      arn,
      name: arn.split('/')[1],
      status: Date.now() < updatingUntil ? 'UPDATING' : 'ACTIVE',
      resourcesVpcConfig: {
        endpointPublicAccess,
        endpointPrivateAccess: true,
        publicAccessCidrs,
        subnetIds: ['subnet-1'],
      },
      kubernetesNetworkConfig: { ipFamily: 'ipv4' },
    };
  }
}

/** The office is no rule of a test: it keeps the list from being empty. */
function ledgerRulesOf({ publicAccessCidrs, ours }: Cluster, target: string): LedgerRule[] {
  const open = publicAccessCidrs.length === 0 ? ['0.0.0.0/0'] : publicAccessCidrs;
  return [...new Set(open)]
    .filter((cidr) => cidr !== OFFICE)
    .map((cidr) => allTrafficRule('AWS', target, cidr, ours.includes(cidr)));
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.toSorted().join() === other.toSorted().join();

/** An empty list lets everybody in. @throws CloudError */
function readCidrs(given: unknown, limit: number): string[] {
  if (!Array.isArray(given)) throw invalid('Nothing is to be changed');
  if (given.length === 0) return ['0.0.0.0/0'];
  const cidrs = given.map((entry) => {
    const cidr = readCidr(String(entry));
    const isReserved =
      cidr?.version === 4 && RESERVED.has(ipaddr.IPv4.parse(cidr.text.split('/')[0]!).range());
    if (cidr?.version !== 4 || cidr.text !== entry || (isReserved && cidr.text !== '0.0.0.0/0'))
      throw invalid(`The following CIDRs are not allowed in publicAccessCidrs: ${String(entry)}`);
    return cidr.text;
  });
  if (cidrs.length > limit)
    throw new CloudError(400, 'ResourceLimitExceededException', `At most ${limit} CIDRs are allowed.`);
  return cidrs;
}

const invalid = (message: string): CloudError => new CloudError(400, 'InvalidParameterException', message);
const missing = (): CloudError => new CloudError(404, 'ResourceNotFoundException', 'No cluster found.');
const inUse = (): CloudError =>
  new CloudError(409, 'ResourceInUseException', 'Cluster has an update in progress.');

const REFUSALS: Readonly<Record<Refusal, () => CloudError>> = {
  throttle: () => new CloudError(429, 'ThrottlingException', 'Rate exceeded'),
  error: () => new CloudError(500, 'ServerException', 'An internal error.'),
  refuse: () => new CloudError(403, 'AccessDeniedException', 'not authorized'),
  'not-found': missing,
  quota: () => new CloudError(400, 'ResourceLimitExceededException', 'You exceeded a limit.'),
  conflict: inUse,
  invalid: () => invalid('A CIDR is not valid'),
  unauthenticated: () => new CloudError(403, 'UnrecognizedClientException', 'The security token is invalid.'),
};
