import { randomUUID } from 'node:crypto';
import { readAddressOrCidr } from '../../cidr';
import type { OpenRule } from '../../ground-truth/ledger';
import type { UnmanagedRuleChange } from '../../provider';
import { invalidContent } from '../azure-error';
import { boundsOf } from './ranges';
import { withOwners, withRule } from './service-calls';
import { serviceOf } from './service-types';
import { entriesOf, type Json, type ServiceResource, type Services } from './services';

/** What another program, or the portal, does to the rules of services. */
export class ServiceRules {
  constructor(private readonly services: Services) {}

  /** @returns the id of the open rule */
  add(target: string, address: string): string {
    const service = serviceOf(target)!;
    const cidr = readAddressOrCidr(address);
    if (!cidr) throw invalidContent(`${address} is no address`);
    const resource = this.services.get(target);
    if (service.shape === 'list') {
      const value = service.completesAddresses ? cidr.text : address;
      this.setEntries(target, [...entriesOf(service, resource), { value }]);
      return cidr.text;
    }
    const collection = cidr.version === 4 ? 'firewallRules' : 'ipv6FirewallRules';
    const fields = service.collections[collection];
    if (!fields) throw invalidContent(`${address} is no IPv4 address`);
    const name = `unmanaged-${randomUUID()}`;
    const [first, last] = boundsOf(cidr.text);
    this.services.write(
      target,
      withRule(resource, collection, name, { [fields[0]]: first, [fields[1]]: last }),
    );
    return collection === 'firewallRules' ? name : `${collection}/${name}`;
  }

  remove(target: string, open: readonly OpenRule[]): void {
    const service = serviceOf(target)!;
    if (service.shape === 'list') {
      const ids = new Set(open.map(({ providerRuleId }) => providerRuleId));
      const entries = entriesOf(service, this.services.get(target));
      this.setEntries(
        target,
        entries.filter(({ value }) => !ids.has(readAddressOrCidr(String(value))?.text ?? '')),
      );
      return;
    }
    for (const { collection, name } of named(open))
      this.services.write(target, withRule(this.services.get(target), collection, name, null));
  }

  /** Rules of lists are their addresses: only those that are objects can be changed in place. */
  change(target: string, open: readonly OpenRule[], { address, fields }: UnmanagedRuleChange): void {
    const service = serviceOf(target)!;
    if (service.shape === 'list') return;
    for (const { collection, name } of named(open)) {
      const resource = this.services.get(target);
      const [first, last] = service.collections[collection]!;
      const bounds = address === undefined ? null : boundsOf(readAddressOrCidr(address)!.text);
      const properties = {
        ...resource.rules[collection]![name],
        ...(bounds && { [first]: bounds[0], [last]: bounds[1] }),
        ...fields,
      };
      this.services.write(target, withRule(resource, collection, name, properties));
    }
  }

  private setEntries(target: string, ipRules: readonly Json[]): void {
    const service = serviceOf(target)!;
    if (service.shape !== 'list') return;
    const before = this.services.get(target);
    const list = { ...(before.properties[service.property] as Json), ipRules };
    const after: ServiceResource = {
      ...before,
      properties: { ...before.properties, [service.property]: list },
    };
    this.services.write(target, withOwners(service, before, after, false));
  }
}

/** The distinct rules behind ledger rules: one rule can have several. */
function named(open: readonly OpenRule[]): { collection: string; name: string }[] {
  const ids = new Set(open.map(({ providerRuleId }) => providerRuleId.replace(/#\d+$/, '')));
  return [...ids].map((id) => {
    const [collection, name] = id.includes('/') ? (id.split('/') as [string, string]) : ['firewallRules', id];
    return { collection, name };
  });
}
