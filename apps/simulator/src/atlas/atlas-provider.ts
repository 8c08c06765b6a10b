import { readAddressOrCidr } from '../cidr';
import type { OpenRule } from '../ground-truth/ledger';
import type {
  CloudAnswer,
  CloudProvider,
  CloudRequest,
  NO_ANSWER,
  UnmanagedRuleChange,
  UnmanagedRuleSpec,
  World,
} from '../provider';
import { AccessLists, PROJECTS, type Entry } from './access-lists';
import { ApiEndpoint, ATLAS_PREFIX, EFFECTS } from './api-endpoint';
import { badRequest } from './atlas-error';

/** MongoDB Atlas: its administration API below `/atlas`. */
export class AtlasProvider implements CloudProvider {
  readonly provider = 'ATLAS';
  readonly prefix = ATLAS_PREFIX;
  readonly targets = PROJECTS;
  readonly operations = EFFECTS;
  private readonly lists: AccessLists;
  private readonly api: ApiEndpoint;

  constructor(world: World) {
    this.lists = new AccessLists(world);
    this.api = new ApiEndpoint(world, this.lists);
  }

  handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    return this.api.handle(request);
  }

  /** A permanent entry, as a person adds it in the console. */
  addUnmanagedRule({ target, address, description = '' }: UnmanagedRuleSpec): string {
    const cidr = readAddressOrCidr(address);
    if (!cidr) throw badRequest('INVALID_IP_ADDRESS_OR_CIDR_NOTATION', `${address} is no address`);
    const entry = { cidr: cidr.text, comment: description, endsAt: null, activeAt: 0 };
    this.lists.write(target, [...this.lists.get(target).filter((one) => one.cidr !== cidr.text), entry]);
    return cidr.text;
  }

  removeRules(target: string, open: readonly OpenRule[]): void {
    for (const { providerRuleId } of open) this.lists.remove(target, providerRuleId);
  }

  /** `deleteAfterDate` among the fields: null takes the end away. */
  changeRules(
    target: string,
    open: readonly OpenRule[],
    { address, description, fields }: UnmanagedRuleChange,
  ): void {
    if (address !== undefined)
      throw badRequest('INVALID_ATTRIBUTE', 'The address of an entry cannot be changed.');
    const ids = new Set(open.map(({ providerRuleId }) => providerRuleId));
    const more = (fields ?? {}) as { deleteAfterDate?: string | null };
    const changed = (entry: Entry): Entry => ({
      ...entry,
      comment: description ?? entry.comment,
      ...(more.deleteAfterDate !== undefined && {
        endsAt: more.deleteAfterDate === null ? null : Date.parse(more.deleteAfterDate),
      }),
    });
    const list = this.lists.get(target);
    this.lists.write(
      target,
      list.map((entry) => (ids.has(entry.cidr) ? changed(entry) : entry)),
    );
  }

  setClockAhead(milliseconds: number): void {
    this.lists.setAhead(milliseconds);
  }

  revokeTokens(): void {
    this.api.revokeTokens();
  }

  save(): Record<string, readonly Entry[]> {
    return Object.fromEntries(PROJECTS.map((project) => [project, this.lists.get(project)]));
  }

  restore(saved: unknown): void {
    for (const [project, list] of Object.entries(saved as Record<string, readonly Entry[]>))
      this.lists.write(project, list);
  }

  reset(): void {
    this.lists.reset();
    this.api.reset();
  }
}
