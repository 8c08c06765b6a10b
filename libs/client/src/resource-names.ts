import { bodyOf, everyPage, type Api, type Resource } from './api';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A name that belongs to no resource, or to several. */
export class UnknownResource extends Error {
  override readonly name = 'UnknownResource';
}

export const isId = (text: string): boolean => UUID.test(text);

/** By name. @param assigned only resources of the caller's roles, which its sessions may name */
export const resources = (api: Api, assigned = false): Promise<Resource[]> =>
  everyPage((page) =>
    bodyOf(
      api.GET('/api/v1/resources', { params: { query: { ...page, ...(assigned ? { assigned } : {}) } } }),
    ),
  );

/**
 * The ids of resources given by name or id. Only names need the list, and with an API key the scope `resources:read`.
 * @param list the resources that names may mean, and errors name
 * @throws UnknownResource
 */
export async function resourceIds(
  api: Api,
  given: readonly string[],
  list = (): Promise<Resource[]> => resources(api),
): Promise<string[]> {
  if (given.every(isId)) return [...new Set(given)];
  const known = await list();
  return [...new Set(given.map((one) => (isId(one) ? one : idOf(one, known))))];
}

function idOf(name: string, known: readonly Resource[]): string {
  const exact = known.filter((resource) => resource.name === name);
  const lower = name.toLowerCase();
  const found = exact.length > 0 ? exact : known.filter((resource) => resource.name.toLowerCase() === lower);
  if (found.length === 1) return found[0]!.id;
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new UnknownResource(`Several resources are named "${name}": give the id, one of ${ids}`);
  }
  const close = known.filter((resource) => resource.name.toLowerCase().includes(lower));
  const shown = (close.length > 0 ? close : known).slice(0, 10).map((resource) => `"${resource.name}"`);
  const hint = shown.length === 0 ? 'there are no resources yet' : `there are ${shown.join(', ')}`;
  throw new UnknownResource(`There is no resource "${name}": ${hint}`);
}
