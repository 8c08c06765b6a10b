import { canonicalCidr, parseMark, type OwnershipMark } from '#rules';
import { isMissing } from '../call-failure';
import { isRecord } from '../untrusted-json';
import type { AtlasApi } from './atlas-api';
import { unexpectedResponse } from './atlas-errors';

const PAGE_SIZE = 500;
/** As many statuses are read at the same time. */
const CONCURRENT_READS = 10;

/** An entry of the list. Those that name a security group of AWS are left out. */
export interface Entry {
  /** canonical CIDR */
  readonly cidr: string;
  /** as Atlas spells it: its name in paths */
  readonly name: string;
  readonly mark: OwnershipMark | null;
  /** when Atlas deletes it, seconds since 1970; null: never */
  readonly endsAt: number | null;
}

export interface NewEntry {
  readonly cidrBlock: string;
  readonly comment: string;
  readonly deleteAfterDate?: string;
}

const STATUSES = ['PENDING', 'FAILED', 'ACTIVE'] as const;
export type EntryStatus = (typeof STATUSES)[number];

/** The IP access list of a project. */
export class AccessList {
  private readonly path: string;

  constructor(
    readonly projectId: string,
    private readonly api: AtlasApi,
  ) {
    this.path = `/groups/${projectId}/accessList`;
  }

  get deadline(): AtlasApi['deadline'] {
    return this.api.deadline;
  }

  /** All pages. */
  async read(): Promise<Entry[]> {
    return (await this.readCounted()).entries;
  }

  /** With the number of all entries, those that are left out included. */
  async readCounted(): Promise<{ readonly entries: Entry[]; readonly count: number }> {
    const operation = 'the read of the access list';
    const entries: Entry[] = [];
    for (let page = 1, seen = 0; ; page += 1) {
      const query = `?itemsPerPage=${PAGE_SIZE}&includeCount=true&pageNum=${page}`;
      const { results, totalCount } = (await this.api.request(operation, `${this.path}${query}`)).body;
      if (!Array.isArray(results) || typeof totalCount !== 'number') throw unexpectedResponse(operation);
      for (const one of results) entries.push(...entryOf(one, operation));
      seen += results.length;
      if (results.length === 0 || seen >= totalCount) return { entries, count: seen };
    }
  }

  /** Adds entries, or gives those that are there another comment and end. @throws CallFailure */
  async post(entries: readonly NewEntry[]): Promise<void> {
    const body = JSON.stringify(entries);
    await this.api.request('the change of the access list', this.path, { body });
  }

  /** @returns false: it was not there @throws CallFailure */
  async delete(name: string): Promise<boolean> {
    try {
      await this.api.request('the removal of an entry', this.entryPath(name), {
        method: 'DELETE',
        mayBeEmpty: true,
      });
      return true;
    } catch (error) {
      if (isMissing(error) && error.code !== 'GROUP_NOT_FOUND') return false;
      throw error;
    }
  }

  /** @returns by name; an entry that is gone meanwhile is left out */
  async statuses(names: readonly string[]): Promise<Map<string, EntryStatus>> {
    const found = new Map<string, EntryStatus>();
    const left = [...names];
    const readNext = async (): Promise<void> => {
      for (let name = left.pop(); name !== undefined; name = left.pop()) {
        const status = await this.status(name);
        if (status) found.set(name, status);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_READS }, readNext));
    return found;
  }

  private async status(name: string): Promise<EntryStatus | null> {
    const operation = 'the read of an entry’s status';
    try {
      const { STATUS: given } = (await this.api.request(operation, `${this.entryPath(name)}/status`)).body;
      const status = STATUSES.find((one) => one === given);
      if (status) return status;
      throw unexpectedResponse(operation);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  private entryPath(name: string): string {
    return `${this.path}/${encodeURIComponent(name)}`;
  }
}

/** @throws CallFailure when it is no entry: what is unknown must not count as absent */
function entryOf(value: unknown, operation: string): Entry[] {
  if (!isRecord(value)) throw unexpectedResponse(operation);
  const address = value['cidrBlock'] ?? value['ipAddress'];
  if (address === undefined && typeof value['awsSecurityGroup'] === 'string') return [];
  const name = typeof address === 'string' ? address : '';
  const cidr = canonicalCidr(name)?.cidr;
  const { comment, deleteAfterDate: end } = value;
  const endsAt =
    end === undefined || end === null ? null : Date.parse(typeof end === 'string' ? end : '') / 1000;
  if (cidr === undefined || Number.isNaN(endsAt)) throw unexpectedResponse(operation);
  return [{ cidr, name, mark: typeof comment === 'string' ? parseMark(comment) : null, endsAt }];
}
