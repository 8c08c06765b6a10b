import { randomUUID } from 'node:crypto';
import { CallFailure } from '../call-failure';
import { NoTenantAnswer, type PinnedConnection, type TenantAnswer } from '../tenant-url/pinned-connection';
import { isRecord, parseJson } from '../untrusted-json';
import { noProperAnswer, refusalOf } from './admin-errors';
import { SENTINEL, type Guard, type GuardedObject } from './whitelist';

const ADMIN = '/apisix/admin';
const PLUGIN = 'ip-restriction';

/** The Admin API of one gateway, through one connection and with one key. Each call throws CallFailure. */
export class AdminApi {
  constructor(
    private readonly connection: PinnedConnection,
    private readonly adminKey: string,
  ) {}

  /** Succeeds when the gateway knows the key. */
  async greet(): Promise<void> {
    const answer = await this.ask('GET', '/plugins/list');
    if (answer.status !== 200) throw refusalOf(answer);
    if (!Array.isArray(parseJson(answer.text))) throw noProperAnswer(false);
  }

  /** @param path `routes/orders-api` */
  async read(path: string): Promise<GuardedObject> {
    const answer = await this.ask('GET', `/${path}`);
    if (answer.status !== 200) throw refusalOf(answer);
    return readObject(path, answer);
  }

  /**
   * Puts a list in the place of the object's own. Nothing else of the object is touched; one without the plugin gets
   * it, which shuts out everybody who is not listed.
   */
  async writeWhitelist(path: string, entries: readonly string[]): Promise<void> {
    if (entries[0] !== SENTINEL) throw new Error('A list without the sentinel must not be written');
    const answer = await this.ask('PATCH', `/${path}/plugins/${PLUGIN}/whitelist`, JSON.stringify(entries));
    if (answer.status !== 200 && answer.status !== 201) throw refusalOf(answer);
    readObject(path, answer);
  }

  /**
   * Whether the key may change objects of a collection, asked of one that does not exist: changing it fails, but only
   * after the key was looked at.
   * @throws CallFailure `denied` when it may not
   */
  async requireWritable(collection: string): Promise<void> {
    const answer = await this.ask(
      'PATCH',
      `/${collection}/drawbridge-${randomUUID()}`,
      '{"desc":"Drawbridge"}',
    );
    const failure = refusalOf(answer);
    if (failure.kind === 'denied')
      throw new CallFailure(
        'denied',
        'The admin key may read only: give Drawbridge one with the role admin',
        null,
        true,
      );
    if (failure.kind !== 'target-missing' && failure.kind !== 'invalid') throw failure;
  }

  private async ask(method: string, path: string, body?: string): Promise<TenantAnswer> {
    try {
      return await this.connection.ask({
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
      if (error instanceof NoTenantAnswer) throw noProperAnswer(!error.sent);
      throw error;
    }
  }
}

/** `{key, value}`, or in the older form of the API `{node: {key, value}}`. */
function readObject(path: string, { text }: TenantAnswer): GuardedObject {
  const body = parseJson(text);
  const node = isRecord(body) && isRecord(body.node) ? body.node : body;
  if (!isRecord(node) || typeof node.key !== 'string' || !node.key.endsWith(`/${path}`))
    throw noProperAnswer(false);
  const { value } = node;
  if (!isRecord(value)) throw noProperAnswer(false);
  return { path, ...readGuard(value.plugins) };
}

function readGuard(plugins: unknown): Omit<GuardedObject, 'path'> {
  const plugin = readField(plugins, PLUGIN);
  if (plugin === undefined) return { guard: 'none', entries: [] };
  if (!isRecord(plugin)) throw noProperAnswer(false);
  const { whitelist, blacklist, _meta: meta } = plugin;
  if (whitelist === undefined || whitelist === null) {
    if (!Array.isArray(blacklist)) throw noProperAnswer(false);
    return { guard: 'blacklist', entries: [] };
  }
  if (!Array.isArray(whitelist) || !whitelist.every((entry) => typeof entry === 'string'))
    throw noProperAnswer(false);
  const guard: Guard = isRecord(meta) && meta.disable === true ? 'disabled' : 'whitelist';
  return { guard, entries: whitelist };
}

/** No plugins at all are told as nothing, or in Lua's way as an empty list. */
function readField(plugins: unknown, name: string): unknown {
  if (plugins === undefined || plugins === null || (Array.isArray(plugins) && plugins.length === 0))
    return undefined;
  if (!isRecord(plugins)) throw noProperAnswer(false);
  return plugins[name] ?? undefined;
}
