import { randomUUID } from 'node:crypto';
import { refused } from '../call-failure';
import {
  NoTenantResponse,
  type PinnedConnection,
  type TenantResponse,
} from '../tenant-url/pinned-connection';
import { isRecord, parseJson } from '../untrusted-json';
import { invalidResponse, refusalOf } from './admin-errors';
import { SENTINEL, type Guard, type GuardedObject } from './whitelist';

const ADMIN = '/apisix/admin';
export const PLUGIN = 'ip-restriction';
/** The Admin API of APISIX 2.x knows no pages. */
const PAGE_SIZE = 200;

/** Client for the Admin API of one gateway with one connection and key. Each call throws CallFailure. */
export class AdminApi {
  constructor(
    private readonly connection: PinnedConnection,
    private readonly adminKey: string,
  ) {}

  /** Checks that the gateway accepts the key. @returns the plugins that the gateway has loaded */
  async listPlugins(): Promise<readonly unknown[]> {
    const plugins = await this.get('/plugins/list');
    if (!Array.isArray(plugins)) throw invalidResponse(false);
    return plugins as readonly unknown[];
  }

  /** The objects of a collection, all pages. */
  async list(collection: string): Promise<readonly Record<string, unknown>[]> {
    const objects: Record<string, unknown>[] = [];
    for (let page = 1; ; page += 1) {
      const body = await this.get(`/${collection}?page=${page}&page_size=${PAGE_SIZE}`);
      const { items, total } = readPage(body);
      objects.push(...items);
      if (items.length === 0 || objects.length >= total) return objects;
    }
  }

  /** @param path `routes/orders-api` */
  async read(path: string): Promise<GuardedObject> {
    return readObject(path, await this.get(`/${path}`));
  }

  /**
   * Replaces the object's whitelist. Changes nothing else of the object, except that the plugin is added if it is
   * missing, which denies every address that is not listed.
   */
  async writeWhitelist(path: string, entries: readonly string[]): Promise<void> {
    if (entries[0] !== SENTINEL) throw new Error('A list without the sentinel must not be written');
    const response = await this.request(
      'PATCH',
      `/${path}/plugins/${PLUGIN}/whitelist`,
      JSON.stringify(entries),
    );
    if (response.status !== 200 && response.status !== 201) throw refusalOf(response);
    readObject(path, parseJson(response.text));
  }

  /**
   * Checks that the key may change objects of a collection, by changing one that does not exist: that fails, but only
   * after the authorization check.
   * @throws CallFailure `denied` when the key is read-only
   */
  async requireWritePermission(collection: string): Promise<void> {
    const response = await this.request(
      'PATCH',
      `/${collection}/drawbridge-${randomUUID()}`,
      '{"desc":"Drawbridge"}',
    );
    const failure = refusalOf(response);
    if (failure.kind === 'denied')
      throw refused('denied', 'The admin key may read only: give Drawbridge one with the role admin');
    if (failure.kind !== 'target-missing' && failure.kind !== 'invalid') throw failure;
  }

  private async get(path: string): Promise<unknown> {
    const response = await this.request('GET', path);
    if (response.status !== 200) throw refusalOf(response);
    return parseJson(response.text);
  }

  private async request(method: string, path: string, body?: string): Promise<TenantResponse> {
    try {
      return await this.connection.request({
        method,
        path: `${ADMIN}${path}`,
        headers: {
          'x-api-key': this.adminKey,
          accept: 'application/json',
          'user-agent': 'drawbridge',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      });
    } catch (error) {
      if (error instanceof NoTenantResponse) throw invalidResponse(!error.sent);
      throw error;
    }
  }
}

/** Parses `{key, value}`, or `{node: {key, value}}` of older API versions. */
function readObject(path: string, body: unknown): GuardedObject {
  const node = isRecord(body) && isRecord(body.node) ? body.node : body;
  if (!isRecord(node) || typeof node.key !== 'string' || !node.key.endsWith(`/${path}`))
    throw invalidResponse(false);
  const { value } = node;
  if (!isRecord(value)) throw invalidResponse(false);
  return { path, value, ...readGuard(value.plugins) };
}

/** Parses `{list, total}`, or `{node: {nodes}, count}` of older API versions. */
function readPage(body: unknown): { items: Record<string, unknown>[]; total: number } {
  const { list, node, total, count } = isRecord(body) ? body : {};
  const nodes: unknown = list ?? (isRecord(node) ? (node.nodes ?? []) : undefined);
  // an empty list is an empty object because of Lua's JSON encoding
  const items: unknown[] | null = Array.isArray(nodes) ? nodes : isRecord(nodes) ? [] : null;
  const size = Number(total ?? count);
  if (!items || Number.isNaN(size)) throw invalidResponse(false);
  return {
    items: items.flatMap((item) => (isRecord(item) && isRecord(item.value) ? [item.value] : [])),
    total: size,
  };
}

function readGuard(plugins: unknown): Omit<GuardedObject, 'path'> {
  const plugin = readField(plugins, PLUGIN);
  if (plugin === undefined) return { guard: 'none', entries: [] };
  if (!isRecord(plugin)) throw invalidResponse(false);
  const { whitelist, blacklist } = plugin;
  if (whitelist === undefined || whitelist === null) {
    if (!Array.isArray(blacklist)) throw invalidResponse(false);
    return { guard: 'blacklist', entries: [] };
  }
  if (!Array.isArray(whitelist) || !whitelist.every((entry) => typeof entry === 'string'))
    throw invalidResponse(false);
  return { guard: whitelistGuard(plugin), entries: whitelist };
}

const isFree = (condition: unknown): boolean =>
  condition === undefined || condition === null || (Array.isArray(condition) && condition.length === 0);

/** Whether the gateway asks a whitelist for every request. APISIX 2.x has `disable` in the plugin itself. */
function whitelistGuard({ disable, _meta }: Record<string, unknown>): Guard {
  const meta = isRecord(_meta) ? _meta : {};
  if (disable === true || meta.disable === true) return 'disabled';
  return isFree(meta.filter) && isFree(meta.pre_function) ? 'whitelist' : 'conditional';
}

/** A missing field. Without plugins, the object is missing, or an empty array because of Lua's JSON encoding. */
export function readField(plugins: unknown, name: string): unknown {
  if (plugins === undefined || plugins === null || (Array.isArray(plugins) && plugins.length === 0))
    return undefined;
  if (!isRecord(plugins)) throw invalidResponse(false);
  return plugins[name] ?? undefined;
}
