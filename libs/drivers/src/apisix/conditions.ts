import { PLUGIN, readField, type AdminApi } from './admin-api';
import { misleading } from './client-address';
import { UNGUARDED, type GuardedObject } from './whitelist';

type Value = Readonly<Record<string, unknown>>;

interface NamedObject {
  readonly name: string;
  readonly value: Value;
}

/** Reads an object, and what keeps the gateway from asking its list for every request. */
export async function readWithConditions(api: AdminApi, path: string): Promise<GuardedObject> {
  const object = await api.read(path);
  const { guard } = object;
  if (guard !== 'whitelist') return { ...object, notAsked: UNGUARDED[guard] };
  const notAsked =
    (await explainNotLoaded(api)) ?? (await explainReplaced(api, path)) ?? (await explainMisled(api, object));
  return { ...object, notAsked };
}

async function explainNotLoaded(api: AdminApi): Promise<string | null> {
  if ((await api.listPlugins()).includes(PLUGIN)) return null;
  return `The gateway has not loaded the plugin ${PLUGIN}, so it lets everybody in: add it to the plugins in its configuration`;
}

/** Of several lists that apply to a request, the gateway asks one: that of the route before that of its plugin config or service. */
async function explainReplaced(api: AdminApi, path: string): Promise<string | null> {
  const [collection = '', id = ''] = path.split('/');
  if (collection === 'global_rules') {
    const other = (await api.list(collection)).find((rule) => nameOf(rule.id) !== id && hasList(rule));
    return other
      ? `The global rule ${nameOf(other.id)} has an ip-restriction too, and newer gateways then ask neither: keep one`
      : null;
  }
  const reference = { services: 'service_id', plugin_configs: 'plugin_config_id' }[collection];
  if (reference === undefined) return null;
  const routes = (await api.list('routes')).filter((route) => nameOf(route[reference]) === id);
  const own = routes.find((route) => hasList(route) || Boolean(route.script));
  if (own) return replacedOn(own, path);
  if (collection !== 'services' || routes.every(({ plugin_config_id: config }) => !config)) return null;
  const configs = new Set(
    (await api.list('plugin_configs')).filter(hasList).map((config) => nameOf(config.id)),
  );
  const configured = routes.find((route) => configs.has(nameOf(route.plugin_config_id)));
  return configured ? replacedOn(configured, path) : null;
}

/** Why clients may name their own address before the list is asked: by a plugin of any object that a request passes with this one. */
async function explainMisled(api: AdminApi, { path, value = {} }: GuardedObject): Promise<string | null> {
  const [collection = '', id = ''] = path.split('/');
  const own: NamedObject[] = [{ name: path, value }];
  // their lists are asked for requests of every route
  const isForAll = collection === 'global_rules' || collection === 'consumer_groups';
  const all = async (
    name: string,
    isMeant: (object: Value) => boolean = () => true,
  ): Promise<NamedObject[]> =>
    (await api.list(name)).filter(isMeant).map((one) => ({ name: `${name}/${nameOf(one.id)}`, value: one }));
  const reference = { services: 'service_id', plugin_configs: 'plugin_config_id' }[collection];
  const routes =
    collection === 'routes'
      ? own
      : await all('routes', (route) => isForAll || nameOf(route[reference!]) === id);
  const listReferred = async (field: string, name: string): Promise<NamedObject[]> => {
    const ids = new Set(routes.map((route) => nameOf(route.value[field])).filter((one) => one !== ''));
    return isForAll || ids.size > 0 ? all(name, (one) => isForAll || ids.has(nameOf(one.id))) : [];
  };
  const passed = [
    ...own,
    ...routes,
    ...(await all('global_rules')),
    ...(await listReferred('plugin_config_id', 'plugin_configs')),
    ...(await listReferred('service_id', 'services')),
  ];
  for (const object of passed) {
    const reason = misleading(object.name, object.value);
    if (reason !== null) return reason;
  }
  return null;
}

const replacedOn = ({ id }: Value, path: string): string =>
  `The route ${nameOf(id)} has an ip-restriction or a script of its own, or by its plugin config, so the gateway does not ask the list of ${path} there: remove that, or make the route a resource of its own that does not refer to ${path}`;

const hasList = ({ plugins }: Value): boolean => readField(plugins, PLUGIN) !== undefined;

/** An id: a text or a number. */
const nameOf = (id: unknown): string => (typeof id === 'string' || typeof id === 'number' ? String(id) : '');
