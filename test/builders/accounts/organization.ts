import type { Answer, ApiClient, Session } from '../../harness/product/api-client';
import type { Product } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { founder, organizationSets, paid } from './people';

export const SIMULATED_KEY = {
  accessKeyId: 'AKIASIMULATED0000001',
  secretAccessKey: 'simulated-secret-access-key',
} as const;

/** One of the security groups the simulated AWS has: ten, or as many as SIMULATOR_GROUPS says. */
export const group = (index: number): string =>
  `sg-${(0x0123456789abcdef0n + BigInt(index)).toString(16).padStart(17, '0')}`;

export interface ResourcePlan {
  readonly group: string;
  readonly config?: object;
}

/** A plan for port 22 of each of these groups; a number: of so many, from the first. */
export const sshTo = (indexes: number | readonly number[]): ResourcePlan[] =>
  (typeof indexes === 'number' ? [...Array(indexes).keys()] : indexes).map((index) => ({
    group: group(index),
    config: { port: 22 },
  }));

/** An organization that is ready to start sessions. */
export class Organization {
  constructor(
    readonly drawbridge: Product,
    readonly admin: ApiClient,
    readonly adminId: string,
    readonly adminEmail: string,
    readonly organizationId: string,
    readonly credentialId: string,
    readonly roleId: string,
    readonly resourceIds: readonly string[],
  ) {}

  async slug(): Promise<string> {
    const found = this.admin.get<{ slug: string }>('/organization');
    return (await this.admin.expect(200, found)).slug;
  }

  start(body: object = {}): Promise<Answer<Session>> {
    return this.admin.post<Session>('/sessions', body);
  }

  async started(body: object): Promise<Session> {
    return this.admin.expect(200, this.start(body));
  }

  async session(id: string): Promise<Session> {
    return this.admin.read<Session>(`/sessions/${id}`);
  }

  /** Waits until the session has the status. */
  reaches(id: string, status: string, withinMs?: number): Promise<Session> {
    return until(
      `session ${id} is ${status}`,
      async () => {
        const session = await this.session(id);
        return session.status === status && session;
      },
      withinMs,
    );
  }

  /** Starts a session, and waits until it is ACTIVE. */
  async opened(body: object): Promise<Session> {
    const { id } = await this.started(body);
    return this.reaches(id, 'ACTIVE');
  }

  /** Stops the session, and waits until nothing of it is open. */
  async closed(id: string): Promise<Session> {
    await this.admin.posted(`/sessions/${id}/stop`);
    return this.reaches(id, 'CANCELLED');
  }

  /** Sets a column of the organization. */
  sets(column: string, value: unknown): Promise<unknown> {
    return organizationSets(this.drawbridge, this.organizationId, column, value);
  }

  /** Moves the session's end to now. */
  async expire(id: string, inMs = 0): Promise<void> {
    await this.drawbridge.query(
      `UPDATE sessions SET expires_at = now() + make_interval(secs => $2) WHERE id = $1`,
      [id, inMs / 1000],
    );
  }

  /**
   * Its addresses have waited for longer than anything is waited for, and are tried now. It locks the session as every writer
   * does: a settlement that is being written would overwrite the time.
   */
  async waitedTooLong(id: string): Promise<void> {
    await this.drawbridge.query(
      `WITH late AS (
         UPDATE resource_ips ip SET pending_since = now() - interval '6 minutes'
         FROM (SELECT id FROM sessions WHERE id = $1 FOR NO KEY UPDATE) locked WHERE ip.session_id = locked.id
         RETURNING ip.id
       )
       UPDATE rules SET due_at = now() WHERE id IN (
         SELECT rule_id FROM rule_holders JOIN late ON late.id = resource_ip_id)`,
      [id],
    );
  }

  async suspend(): Promise<void> {
    await this.drawbridge.query('UPDATE organizations SET suspended_at = now() WHERE id = $1', [
      this.organizationId,
    ]);
  }

  /** A new resource that is verified and assigned to the role. @returns it as it was created */
  async resource<T extends Created>(body: object): Promise<T> {
    const resource = await this.admin.created<T>('/resources', body);
    await this.admin.posted(`/resources/${resource.id}/verify`);
    await this.admin.posted(`/roles/${this.roleId}/resources/${resource.id}`);
    return resource;
  }

  /** A new API key in plain text. */
  async plainKey(scopes: readonly string[], more: object = {}): Promise<string> {
    const body = { name: 'pipeline', scopes, ...more };
    return (await this.admin.created<{ plainTextKey: string }>('/api-keys', body)).plainTextKey;
  }

  async apiKey(scopes: readonly string[]): Promise<ApiClient> {
    return this.drawbridge.api.as({ apiKey: await this.plainKey(scopes) });
  }
}

interface Created {
  readonly id: string;
}

const registered = new WeakMap<object, Organization[]>();

/** Organizations that were registered with `organization` on this product. */
export const organizationsOf = (drawbridge: object): readonly Organization[] =>
  registered.get(drawbridge) ?? [];

/** Registers an organization on the Paid plan with verified resources and a role that grants them to its admin. */
export async function organization(
  drawbridge: Product,
  plans: readonly ResourcePlan[] = sshTo(1),
): Promise<Organization> {
  const { client: admin, id, email, organizationId } = await founder(drawbridge);
  await paid(drawbridge, organizationId);
  const made = async (path: string, body: object): Promise<string> => (await admin.created(path, body)).id;
  const key = { provider: 'AWS', credentialType: 'ACCESS_KEY', credentialData: SIMULATED_KEY };
  const credentialId = await made('/credentials', { name: 'Simulated AWS', ...key });
  const roleId = await made('/roles', { name: 'Developers' });
  await admin.posted(`/roles/${roleId}/users/${id}`);
  const resourceIds: string[] = [];
  const org = new Organization(
    drawbridge,
    admin,
    id,
    email,
    organizationId,
    credentialId,
    roleId,
    resourceIds,
  );
  for (const [index, { group: resourceIdentifier, config = {} }] of plans.entries()) {
    const place = { resourceType: 'SECURITY_GROUP', resourceIdentifier, region: 'eu-central-1' };
    const body = { name: `resource-${index}`, provider: 'AWS', credentialId, ...place, config };
    resourceIds.push((await org.resource(body)).id);
  }
  registered.set(drawbridge, [...organizationsOf(drawbridge), org]);
  return org;
}

/** The same, for the tests of a file or of a `describe`: it is there before them. */
export function ownOrganization(drawbridge: Product, plans?: readonly ResourcePlan[]): Organization {
  const org = Object.create(Organization.prototype) as Organization;
  beforeAll(async () => void Object.assign(org, await organization(drawbridge, plans)));
  return org;
}
