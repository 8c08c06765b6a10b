import type { CallEffect } from '../faults/fault-script';
import { halfChanged } from '../faults/half-changed';
import type { CallModifiers } from '../faults/serve-call';
import type { CloudAnswer, CloudRequest } from '../provider';
import { readJson } from '../read-json';
import { bodyTooLarge, invalid, jsonAnswer, keyNotFound, methodNotSupported } from './admin-error';
import { COLLECTIONS, type GatewayObject, type GatewayObjects } from './gateway-objects';
import { whitelistOf, withWhitelist } from './ip-restriction';
import { isObject, merged, replacedAt, type Json, type JsonObject } from './merge';

export interface AdminCall {
  readonly operation: string;
  readonly effect: CallEffect;
  readonly collection: string;
  readonly id: string | null;
  /** below the object */
  readonly subPath: readonly string[];
}

/** Operations, by their names for faults and the call log. */
export const OPERATIONS: Readonly<Record<string, CallEffect>> = {
  ListPlugins: 'read',
  ListObjects: 'read',
  GetObject: 'read',
  PatchObject: 'change',
};

const MAX_BODY_BYTES = 1_572_864;
const PLUGINS = ['real-ip', 'client-control', 'ip-restriction', 'limit-count', 'key-auth', 'proxy-rewrite'];

/** Parses a request. @param path below `/apisix/admin`. @returns undefined when the Admin API has no such path */
export function readCall(method: string, path: string): AdminCall | undefined {
  const [collection = '', id = null, ...subPath] = path.split('/').slice(1).map(decodeURIComponent);
  const call = (operation: string): AdminCall => {
    return { operation, effect: OPERATIONS[operation]!, collection, id, subPath };
  };
  if (method === 'GET' && path === '/plugins/list') return { ...call('ListPlugins'), id: null };
  if (!COLLECTIONS.includes(collection)) return undefined;
  if (method === 'GET' && subPath.length === 0) return call(id === null ? 'ListObjects' : 'GetObject');
  return call('PatchObject');
}

/** The simulated calls of the Admin API. Each throws CloudError. */
export class AdminCalls {
  constructor(private readonly objects: GatewayObjects) {}

  perform(call: AdminCall, request: CloudRequest, how: CallModifiers): CloudAnswer {
    if (call.operation === 'ListPlugins') return jsonAnswer(200, PLUGINS);
    if (call.operation === 'ListObjects') return this.list(call.collection);
    if (call.operation === 'GetObject') return jsonAnswer(200, objectJson(call, this.find(call, how.asOf)));
    return this.patch(call, request, how);
  }

  private list(collection: string): CloudAnswer {
    const ids = this.objects.ids(collection);
    const list = ids.map((id) => objectJson({ collection, id }, this.objects.find(collection, id)!));
    return jsonAnswer(200, { list, total: list.length });
  }

  /** The gateway writes and returns the whole object; lists are replaced, not merged. */
  private patch(call: AdminCall, { method, body, headers }: CloudRequest, how: CallModifiers): CloudAnswer {
    if (method !== 'PATCH') throw methodNotSupported(method);
    const bytes = Buffer.byteLength(body);
    if (bytes > MAX_BODY_BYTES) throw bodyTooLarge(bytes, MAX_BODY_BYTES);
    const part = readBody(body);
    const known = this.find(call);
    const value = { ...patched(known.value, call.subPath, part), update_time: Math.floor(Date.now() / 1000) };
    const half = halfChanged(whitelistOf(known.value), whitelistOf(value));
    const applied = how.firstHalf ? withWhitelist(value, half) : value;
    const byUs = /^drawbridge\b/.test(headers['user-agent'] ?? '');
    const {
      createdIndex: _,
      modifiedIndex: __,
      ...answer
    } = objectJson(call, this.objects.write(call.id!, applied, byUs));
    return jsonAnswer(200, answer);
  }

  private find({ collection, id }: AdminCall, asOf?: number): GatewayObject {
    const found = id === null ? undefined : this.objects.find(collection, id, asOf);
    if (found) return found;
    throw keyNotFound();
  }
}

function patched(value: JsonObject, subPath: readonly string[], part: Json): JsonObject {
  if (subPath.length > 0) return replacedAt(value, subPath, part);
  if (!isObject(part)) throw invalid('invalid configuration: wrong type: expected object');
  return merged(value, part);
}

function readBody(body: string): Json {
  if (body === '') throw invalid('missing configurations');
  const read = readJson(body) as Json | undefined;
  if (read !== undefined) return read;
  throw invalid('invalid request body: Expected value but found invalid token at character 1');
}

const objectJson = (
  { collection, id }: Pick<AdminCall, 'collection' | 'id'>,
  { value, createdIndex, modifiedIndex }: GatewayObject,
): { key: string; value: JsonObject; createdIndex: number; modifiedIndex: number } => ({
  key: `/apisix/${collection}/${id}`,
  value,
  createdIndex,
  modifiedIndex,
});
