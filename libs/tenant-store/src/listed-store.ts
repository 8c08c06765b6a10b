import type { OrganizationId } from '#rules';
import {
  type ListDefinition,
  type ListQuery,
  type Sliced,
  type TenantStore,
  type Tx,
  first,
  listPage,
} from '#entities';

/** An organization's objects that have a list. One of them is read as the list shows it. */
export abstract class ListedStore<Row extends object> implements TenantStore<ListedStore<Row>> {
  protected abstract readonly definition: ListDefinition;

  list(tx: Tx, organization: OrganizationId, query: ListQuery): Promise<Sliced<Row>> {
    return listPage(tx, this.definition, organization, query);
  }

  find(tx: Tx, organization: OrganizationId, id: string): Promise<Row | null> {
    const { list, id: ownId } = this.definition;
    return first(tx, `${list} AND ${ownId} = $2`, [organization, id]);
  }

  /** Reads and locks it until the commit, so that a comparison with it shows what changed. */
  findLocked(tx: Tx, organization: OrganizationId, id: string): Promise<Row | null> {
    const { list, id: ownId } = this.definition;
    const lock = `FOR NO KEY UPDATE OF ${ownId.replace('.id', '')}`;
    return first(tx, `${list} AND ${ownId} = $2 ${lock}`, [organization, id]);
  }
}
