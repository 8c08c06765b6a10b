import { asOrganizationId, type OrganizationId } from '#rules';
import type { TenantStore, Tx } from '#entities';

/** Checked by the compiler: an `@ts-expect-error` line that compiles is itself an error of `npm run lint`. */
class CarefulStore implements TenantStore<CarefulStore> {
  find(_tx: Tx, organization: OrganizationId, id: string): string {
    return `${organization} ${id}`;
  }
}

class ForgetfulStore implements TenantStore<ForgetfulStore> {
  // @ts-expect-error a method that does not say whose rows it reads
  find(_tx: Tx, id: string): string {
    return id;
  }

  // @ts-expect-error nor one that takes nothing at all
  all(): string[] {
    return [];
  }
}

describe('Tenancy is in the types', () => {
  const tx = {} as Tx;

  it('a store method that names the organization compiles', () => {
    expect(new CarefulStore().find(tx, asOrganizationId('a'), 'b')).toBe('a b');
  });

  it('a plain string is no organization', () => {
    // @ts-expect-error only somebody who proved who they are has an OrganizationId
    expect(new CarefulStore().find(tx, 'a', 'b')).toBe('a b');
    expect(new ForgetfulStore().all()).toEqual([]);
  });
});
