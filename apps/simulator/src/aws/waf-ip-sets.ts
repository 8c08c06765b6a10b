import { randomUUID } from 'node:crypto';
import ipaddr from 'ipaddr.js';
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

interface IpSet {
  readonly addresses: readonly string[];
  readonly description: string;
  readonly lockToken: string;
  /** canonical ranges that Drawbridge wrote */
  readonly ours: readonly string[];
}

const OPERATIONS = { GetIPSet: 'read', UpdateIPSet: 'change' } as const;
const REGION = 'eu-central-1';
const ID = '0c8a5f2e-1b5d-4f6e-9a3b-7d2c1e0f4a6';

/** Five sets for IPv4 and one for IPv6 in eu-central-1, and one for CloudFront. */
export const IP_SETS: readonly string[] = [
  ...[0, 1, 2, 3, 4].map(
    (index) => `arn:aws:wafv2:${REGION}:${ACCOUNT_ID}:regional/ipset/simulated-${index}/${ID}${index}`,
  ),
  `arn:aws:wafv2:${REGION}:${ACCOUNT_ID}:regional/ipset/simulated-ipv6/${ID}6`,
  `arn:aws:wafv2:us-east-1:${ACCOUNT_ID}:global/ipset/simulated-global/${ID}7`,
];

const versionOf = (arn: string): 4 | 6 => (arn.includes('/simulated-ipv6/') ? 6 : 4);

/** AWS WAF's IP sets: JSON 1.1, guarded by lock tokens. */
export class WafIpSets implements JsonService {
  readonly service = 'wafv2';
  private readonly sets: History<IpSet>;

  constructor(private readonly world: World) {
    this.sets = new History(world, ledgerRulesOf);
    this.reset();
  }

  reset(): void {
    this.sets.clear();
    for (const arn of IP_SETS)
      this.sets.init(arn, { addresses: [], description: 'the office', lockToken: randomUUID(), ours: [] });
  }

  read({ headers, body }: CloudRequest): JsonCall | null {
    const operation = String(headers['x-amz-target']).replace('AWSWAF_20190729.', '');
    if (operation !== 'GetIPSet' && operation !== 'UpdateIPSet') return null;
    const given = (readJson(body) ?? {}) as Json;
    const known = IP_SETS.find((arn) => arn.endsWith(`/ipset/${String(given.Name)}/${String(given.Id)}`));
    const isNamed = known !== undefined && (given.Scope === 'CLOUDFRONT') === known.includes(':global/');
    const arn = `arn:aws:wafv2:${REGION}:${ACCOUNT_ID}:regional/ipset/${String(given.Name)}/${String(given.Id)}`;
    return {
      operation,
      effect: OPERATIONS[operation],
      arn: isNamed ? known : arn,
      target: isNamed ? known : arn,
      body: given,
    };
  }

  admit({ operation, body, arn }: JsonCall, { region }: SignedCall): void {
    if (body.Scope === 'CLOUDFRONT' && region !== 'us-east-1')
      throw invalid('The scope is not valid: CLOUDFRONT is served in us-east-1.');
    if (body.Scope === 'REGIONAL' && arn?.split(':')[3] !== region) throw missing();
    const { wafWritesPerSecond } = this.world.sizes;
    const rate =
      operation === 'GetIPSet'
        ? { burst: 1000, refillPerSecond: 5 }
        : { burst: wafWritesPerSecond, refillPerSecond: wafWritesPerSecond };
    if (!this.world.buckets.take(`AWS WAF ${region} ${operation}`, rate))
      throw new CloudError(400, 'ThrottlingException', 'Rate exceeded');
  }

  perform(call: JsonCall, how: CallModifiers, request: CloudRequest): Json {
    const { target, body } = call;
    const set = this.sets.get(target!, how.asOf);
    if (!set || !IP_SETS.includes(target!)) throw missing();
    if (call.operation === 'GetIPSet')
      return {
        LockToken: set.lockToken,
        IPSet: {
          ARN: target,
          Name: body.Name,
          Id: body.Id,
          Description: set.description,
          IPAddressVersion: `IPV${versionOf(target!)}`,
          Addresses: set.addresses,
        },
      };
    if (!/^[0-9a-f-]{36}$/.test(String(body.LockToken))) throw invalid('The lock token is malformed.');
    const given = readAddresses(body.Addresses, versionOf(target!));
    if (given.length > this.world.sizes.wafAddresses)
      throw new CloudError(
        400,
        'WAFLimitsExceededException',
        'AWS WAF couldn’t perform the operation because you exceeded your resource limit.',
      );
    if (body.LockToken !== set.lockToken)
      throw new CloudError(
        400,
        'WAFOptimisticLockException',
        'AWS WAF couldn’t save your changes because someone changed the resource after you started to edit it.',
      );
    const addresses = how.firstHalf ? halfChanged(set.addresses, given) : given;
    const byUs = /drawbridge/.test(request.headers['user-agent'] ?? '');
    const next = this.store(
      target!,
      { ...set, addresses, description: typeof body.Description === 'string' ? body.Description : '' },
      byUs,
    );
    return { NextLockToken: next.lockToken };
  }

  refusal(why: Refusal): CloudError {
    return REFUSALS[why]();
  }

  /** As with the console. @param address with or without a prefix length */
  add(target: string, address: string): string {
    const cidr = readCidr(address.includes('/') ? address : `${address}/${address.includes(':') ? 128 : 32}`);
    if (cidr?.version !== versionOf(target)) throw invalid(`${address} is not valid`);
    const set = this.sets.get(target)!;
    this.store(target, { ...set, addresses: [...set.addresses, cidr.text] }, false);
    return cidr.text;
  }

  remove(target: string, ids: readonly string[]): void {
    const set = this.sets.get(target)!;
    this.store(
      target,
      { ...set, addresses: set.addresses.filter((entry) => !ids.includes(canonical(entry))) },
      false,
    );
  }

  all(): Readonly<Record<string, IpSet>> {
    return Object.fromEntries(IP_SETS.map((arn) => [arn, this.sets.get(arn)!]));
  }

  restore(saved: Readonly<Record<string, IpSet>>): void {
    for (const arn of IP_SETS) if (saved[arn]) this.sets.set(arn, saved[arn]);
  }

  /** @param byUs new entries are ours */
  private store(target: string, set: IpSet, byUs: boolean): IpSet {
    const before = this.sets.get(target)!;
    const known = new Set(before.addresses.map(canonical));
    const ours = set.addresses
      .map(canonical)
      .filter((cidr) => (known.has(cidr) ? before.ours.includes(cidr) : byUs));
    return this.sets.set(target, { ...set, lockToken: randomUUID(), ours });
  }
}

const ledgerRulesOf = ({ addresses, ours }: IpSet, target: string): LedgerRule[] =>
  [...new Set(addresses.map(canonical))].map((cidr) =>
    allTrafficRule('AWS', target, cidr, ours.includes(cidr)),
  );

const canonical = (entry: string): string => readCidr(entry)?.text ?? entry;

/** IPv6 is returned written out. @throws CloudError */
function readAddresses(given: unknown, version: 4 | 6): string[] {
  if (!Array.isArray(given)) throw invalid('Addresses is required.');
  return given.map((entry) => {
    const text = String(entry);
    const cidr = readCidr(text);
    const [address = '', prefix] = text.split('/');
    if (cidr?.version !== version || prefix === '0') throw invalid(`${text} is not valid`);
    const canonicalAddress = cidr.text.split('/')[0]!;
    if (ipaddr.parse(address).toNormalizedString() !== ipaddr.parse(canonicalAddress).toNormalizedString())
      throw invalid(`${text} has host bits set`);
    if (version === 4) return text;
    const full = ipaddr.IPv6.parse(address).parts.map((part) => part.toString(16).padStart(4, '0'));
    return `${full.join(':')}/${prefix}`;
  });
}

const invalid = (message: string): CloudError => new CloudError(400, 'WAFInvalidParameterException', message);
const missing = (): CloudError =>
  new CloudError(
    400,
    'WAFNonexistentItemException',
    'AWS WAF couldn’t perform the operation because your resource doesn’t exist.',
  );

const REFUSALS: Readonly<Record<Refusal, () => CloudError>> = {
  throttle: () => new CloudError(400, 'ThrottlingException', 'Rate exceeded'),
  error: () => new CloudError(500, 'WAFInternalErrorException', 'An internal error.'),
  refuse: () => new CloudError(400, 'AccessDeniedException', 'not authorized'),
  'not-found': missing,
  quota: () => new CloudError(400, 'WAFLimitsExceededException', 'You exceeded your resource limit.'),
  conflict: () => new CloudError(400, 'WAFOptimisticLockException', 'Someone changed the resource.'),
  invalid: () => invalid('An address is not valid'),
  unauthenticated: () => new CloudError(400, 'UnrecognizedClientException', 'The security token is invalid.'),
};
