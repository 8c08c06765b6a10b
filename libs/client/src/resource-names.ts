import { bodyOf, everyPage, type Api, type Resource } from './api';
import { isId, named } from './named';

/** By name. @param assigned only resources of the caller's roles, which its sessions may name */
export const resources = (api: Api, assigned = false): Promise<Resource[]> =>
  everyPage((page) =>
    bodyOf(
      api.GET('/api/v1/resources', { params: { query: { ...page, ...(assigned ? { assigned } : {}) } } }),
    ),
  );

/**
 * The ids of resources given by name, id or the beginning of an id. Only names need the list, and with an API key the scope
 * `resources:read`.
 * @param list the resources that names may mean, and errors name
 * @throws UnknownName
 */
export async function resourceIds(
  api: Api,
  given: readonly string[],
  list = (): Promise<Resource[]> => resources(api),
): Promise<string[]> {
  if (given.every(isId)) return [...new Set(given)];
  const known = await list();
  const noun = { one: 'resource', several: 'resources' };
  return [...new Set(given.map((one) => (isId(one) ? one : named(one, known, noun).id)))];
}
