import { randomUUID } from 'node:crypto';
import { CallFailure } from '../call-failure';
import {
  NoTenantResponse,
  type PinnedConnection,
  type TenantResponse,
} from '../tenant-url/pinned-connection';
import { isRecord, parseJson } from '../untrusted-json';
import { invalidResponse, refusalOf } from './admin-errors';
import { SENTINEL, type Guard, type GuardedObject } from './whitelist';

const ADMIN = '/apisix/admin';
const PLUGIN = 'ip-restriction';

/** Client for the Admin API of one gateway with one connection and key. Each call throws CallFailure. */
export class AdminApi {
  constructor(
    private readonly connection: PinnedConnection,
    private readonly adminKey: string,
  ) {}

  /** Checks that the gateway accepts the key. */
  async checkKey(): Promise<void> {
    const response = await this.request('GET', '/plugins/list');
    if (response.status !== 200) throw refusalOf(response);
    if (!Array.isArray(parseJson(response.text))) throw invalidResponse(false);
  }

  /** @param path `routes/orders-api` */
  async read(path: string): Promise<GuardedObject> {
    const response = await this.request('GET', `/${path}`);
    if (response.status !== 200) throw refusalOf(response);
    return readObject(path, response);
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
    readObject(path, response);
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
      throw new CallFailure(
        'denied',
        'The admin key may read only: give Drawbridge one with the role admin',
        null,
        true,
      );
    if (failure.kind !== 'target-missing' && failure.kind !== 'invalid') throw failure;
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
function readObject(path: string, { text }: TenantResponse): GuardedObject {
  const body = parseJson(text);
  const node = isRecord(body) && isRecord(body.node) ? body.node : body;
  if (!isRecord(node) || typeof node.key !== 'string' || !node.key.endsWith(`/${path}`))
    throw invalidResponse(false);
  const { value } = node;
  if (!isRecord(value)) throw invalidResponse(false);
  return { path, ...readGuard(value.plugins) };
}

function readGuard(plugins: unknown): Omit<GuardedObject, 'path'> {
  const plugin = readField(plugins, PLUGIN);
  if (plugin === undefined) return { guard: 'none', entries: [] };
  if (!isRecord(plugin)) throw invalidResponse(false);
  const { whitelist, blacklist, _meta: meta } = plugin;
  if (whitelist === undefined || whitelist === null) {
    if (!Array.isArray(blacklist)) throw invalidResponse(false);
    return { guard: 'blacklist', entries: [] };
  }
  if (!Array.isArray(whitelist) || !whitelist.every((entry) => typeof entry === 'string'))
    throw invalidResponse(false);
  const guard: Guard = isRecord(meta) && meta.disable === true ? 'disabled' : 'whitelist';
  return { guard, entries: whitelist };
}

/** A missing field. Without plugins, the object is missing, or an empty array because of Lua's JSON encoding. */
function readField(plugins: unknown, name: string): unknown {
  if (plugins === undefined || plugins === null || (Array.isArray(plugins) && plugins.length === 0))
    return undefined;
  if (!isRecord(plugins)) throw invalidResponse(false);
  return plugins[name] ?? undefined;
}
