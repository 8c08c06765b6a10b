import type { SourceEdit } from '../simulation/planted-bugs';

/** An error in a driver, and the tests of the conformance suite that find it. */
interface PlantedDriver {
  readonly what: string;
  readonly edit: SourceEdit;
  readonly suite: string;
  /** the end of a test's name, with those of its blocks; the first of that name */
  readonly test: string;
}

const DRIVERS = 'libs/drivers/src';
const KEEP = 'of KEY_VAULT keep what else is there, as it is';

const planted = (
  what: string,
  [file, find, replace]: readonly [file: string, find: string, replace: string],
  [suite, test]: readonly [suite: string, test: string],
): PlantedDriver => ({
  what,
  edit: { file: `${DRIVERS}/${file}`, find, replace },
  suite: `test/conformance/${suite}.ts`,
  test,
});

/** Errors of every shape of list, as a person makes them who has read half of the service's page. */
export const PLANTED_DRIVERS: readonly PlantedDriver[] = [
  planted(
    'sends a list of Azure without its default action, which then is Allow',
    [
      'azure/arm/property-list.ts',
      '{ ...property, ipRules }',
      '{ ...property, defaultAction: undefined, ipRules }',
    ],
    ['azure-services.long.spec', KEEP],
  ),
  planted(
    'writes entries of others in a list of Azure anew, without their own fields',
    ['azure/arm/property-list.ts', ': left.splice(index, 1)[0];', ': { ...this.type.entry, value };'],
    ['azure-services.long.spec', KEEP],
  ),
  planted(
    'takes a change that a server of Azure has accepted for done',
    [
      'azure/arm/child-rules.ts',
      'if (running) return this.finish(running, (rules) => rules.some((one) => isWritten(one, rule, body)));',
      'if (running) return;',
    ],
    ['azure-services.long.spec', 'is unknown, and the target is not read while it is in progress'],
  ),
  planted(
    'writes an empty list to an endpoint of EKS, which lets everybody in',
    ['aws/eks-endpoint.ts', `whenEmpty = 'open'`, `whenEmpty: 'open' | 'closed' = 'closed'`],
    ['aws-lists.long.spec', 'keep the last entry, of any program: an empty list lets every address in'],
  ),
  planted(
    'writes a range with host bits to an IP set of WAF, as moto takes it',
    [
      'aws/list-target.ts',
      'if (versions.includes(range.version)) return cidr;',
      `if (versions.includes(range.version)) return cidr.replace('.0/', '.1/');`,
    ],
    ['aws-lists.long.spec', 'adds rules for a range and, where supported, for an IPv6 address'],
  ),
  planted(
    'writes an IP set of WAF without its description, which then is lost',
    ['aws/waf-ip-set.ts', '...(description !== undefined && { Description: description }),', ''],
    ['foreign-entries.spec', 'Entries of other programs on WAF_IP_SET'],
  ),
  planted(
    'sends an entry of Atlas that is another program’s, which then gets an end',
    [
      'atlas/list-batch.ts',
      'if (entry && !isOurs(entry, this.target)) {',
      'if (entry && !isOurs(entry, this.target) && entry.mark) {',
    ],
    ['atlas-native-expiry.spec', 'of other programs are never sent, so that none of them gets an end'],
  ),
  planted(
    'sends entries of Atlas without an end of their own',
    ['atlas/list-batch.ts', 'endsAt === undefined ? {} :', 'endsAt !== undefined ? {} :'],
    ['atlas-native-expiry.spec', 'end by Atlas’ own clock'],
  ),
];
