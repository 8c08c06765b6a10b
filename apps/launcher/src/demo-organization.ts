import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { type ApiAnswer, type DemoApi, UnexpectedAnswer } from './demo-api';
import { isObject, readJsonObject, textIn, writeJsonObject } from './json-file';

const EMAIL = 'admin@demo.example';
const CREDENTIAL = {
  name: 'Simulated AWS',
  provider: 'AWS',
  credentialType: 'ACCESS_KEY',
  credentialData: { accessKeyId: 'AKIASIMULATED0000001', secretAccessKey: 'simulated-secret-access-key' },
};
const RESOURCE = {
  name: 'demo-database',
  provider: 'AWS',
  resourceType: 'SECURITY_GROUP',
  resourceIdentifier: 'sg-0123456789abcdef0',
  region: 'us-east-1',
  config: { port: 5432, protocol: 'tcp' },
};
const COMPANY = {
  name: 'Demo company',
  emailDomains: ['demo.example'],
  createUsers: true,
  trustsSecondFactor: true,
};
const API_KEY = { name: 'demo', scopes: ['sessions:write', 'sessions:read', 'resources:read'] };

export interface DemoAccess {
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
  /** of a sign-in that the console takes over; null: there is a second factor, or the password has expired */
  readonly refreshToken: string | null;
  /** by which the organization's people sign in with the simulated identity provider; null: they cannot */
  readonly slug: string | null;
}

interface SignedIn {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly userId: string;
  readonly organizationId: string;
}

/**
 * An organization to try the service with: one administrator, one resource in the simulated cloud, one API key, and the
 * simulated identity provider.
 */
export class DemoOrganization {
  private readonly file: string;

  constructor(
    private readonly api: DemoApi,
    private readonly databaseUrl: string,
    private readonly dataDir: string,
    private readonly simulatorUrl: string,
  ) {
    this.file = join(dataDir, 'demo.json');
  }

  /**
   * Creates what is missing. Idempotent: an interrupted or repeated call continues where the last one ended.
   * @throws Error naming the request that failed, or what to delete when the password is lost
   */
  async ensure(): Promise<DemoAccess> {
    const kept = readJsonObject(this.file);
    const email = textIn(kept, 'email') ?? EMAIL;
    const password = textIn(kept, 'password') ?? randomBytes(12).toString('base64url');
    // stored before it is used: an account with a lost password would block the next run
    if (!textIn(kept, 'password')) writeJsonObject(this.file, { email, password });
    const keptKey = textIn(kept, 'apiKey');
    const acceptedKey = keptKey !== undefined && (await this.isAccepted(keptKey)) ? keptKey : null;
    const answer = await this.api.send('POST', '/auth/login', { email, password });
    // another step of the sign-in is the owner's
    const isOwners =
      answer.status === 403 || (answer.status === 200 && textIn(answer.body, 'accessToken') === undefined);
    if (isOwners && acceptedKey)
      return { email, password, apiKey: acceptedKey, refreshToken: null, slug: await this.companyOf(email) };
    const account =
      answer.status === 401 ? await this.register(email, password) : readSignIn('/auth/login', 200, answer);
    const apiKey = acceptedKey ?? (await this.createObjects(account));
    writeJsonObject(this.file, { email, password, apiKey });
    return { email, password, apiKey, refreshToken: account.refreshToken, slug: await this.companyOf(email) };
  }

  private async register(email: string, password: string): Promise<SignedIn> {
    if (await isRegistered(this.databaseUrl, email)) {
      throw new Error(
        `${email} is registered with a password that is not in ${this.file}.\n` +
          `To begin anew, stop this and delete ${this.dataDir}; empty the database if DATABASE_URL names your own.`,
      );
    }
    const path = '/auth/register';
    const body = { organizationName: 'Demo', email, password, name: 'Demo Admin' };
    return readSignIn(path, 201, await this.api.send('POST', path, body));
  }

  private async isAccepted(apiKey: string): Promise<boolean> {
    const { status } = await this.api.with({ 'X-API-Key': apiKey }).send('GET', '/resources');
    return status === 200;
  }

  /** Creates credential, resource, role and API key. @returns the API key */
  private async createObjects({ accessToken, userId, organizationId }: SignedIn): Promise<string> {
    await raiseToPaid(this.databaseUrl, organizationId);
    const admin = this.api.with({ authorization: `Bearer ${accessToken}` });
    const credential = await findOrCreate(admin, '/credentials', CREDENTIAL);
    const resource = await findOrCreate(admin, '/resources', { ...RESOURCE, credentialId: idOf(credential) });
    if (resource['isActive'] !== true) await admin.post(200, `/resources/${idOf(resource)}/verify`);
    const role = await findOrCreate(admin, '/roles', { name: 'Developers' });
    await assign(admin, role, 'resources', role['resourceIds'], idOf(resource));
    await assign(admin, role, 'users', role['userIds'], userId);
    await this.addIdentityProvider(admin, idOf(role));
    const key = textIn(await admin.post(201, '/api-keys', API_KEY), 'plainTextKey');
    if (key === undefined) throw new Error('POST /api-keys answered without plainTextKey');
    return key;
  }

  /** The identity provider may be off or deleted, and that of a run with another simulator's port is of no use. */
  private async companyOf(email: string): Promise<string | null> {
    const [found] = await query<{ slug: string }>(
      this.databaseUrl,
      `SELECT o.slug FROM organizations o JOIN users u ON u.organization_id = o.id
       JOIN identity_providers p ON p.organization_id = o.id WHERE u.email = $1 AND p.issuer = $2 AND p.is_enabled`,
      [email, `${this.simulatorUrl}/issuer`],
    );
    return found?.slug ?? null;
  }

  private async addIdentityProvider(admin: DemoApi, roleId: string): Promise<void> {
    const described = await fetch(`${this.simulatorUrl}/_issuer`);
    const { issuer, clientId, clientSecret, groupsClaim, group } =
      (await described.json()) as SimulatedIssuer;
    const groupMappings = [{ group, roleId, isOrgAdmin: false }];
    const body = { ...COMPANY, issuer, clientId, clientSecret, groupsClaim, groupMappings };
    await findOrCreate(admin, '/identity-providers', body);
  }
}

/** What the simulated identity provider says about itself. */
interface SimulatedIssuer {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly groupsClaim: string;
  readonly group: string;
}

async function findOrCreate(
  api: DemoApi,
  path: string,
  desired: Readonly<Record<string, unknown>> & { readonly name: string },
): Promise<Record<string, unknown>> {
  const found = (await api.list(path)).find(({ name }) => name === desired.name);
  return found ?? api.post(201, path, desired);
}

/** Skips an existing assignment, which the service would refuse. */
async function assign(
  api: DemoApi,
  role: Record<string, unknown>,
  kind: 'resources' | 'users',
  assigned: unknown,
  id: string,
): Promise<void> {
  if (Array.isArray(assigned) && assigned.includes(id)) return;
  await api.post(200, `/roles/${idOf(role)}/${kind}/${id}`);
}

function idOf(object: Record<string, unknown>): string {
  const id = textIn(object, 'id');
  if (id === undefined) throw new Error(`An object came without an id: ${JSON.stringify(object)}`);
  return id;
}

function readSignIn(path: string, status: number, answer: ApiAnswer): SignedIn {
  const user = isObject(answer.body) ? answer.body['user'] : undefined;
  const accessToken = textIn(answer.body, 'accessToken');
  const refreshToken = textIn(answer.body, 'refreshToken');
  const userId = textIn(user, 'id');
  const organizationId = textIn(user, 'organizationId');
  if (answer.status === status && accessToken && refreshToken && userId && organizationId) {
    return { accessToken, refreshToken, userId, organizationId };
  }
  throw new UnexpectedAnswer(`POST ${path}`, answer);
}

const isRegistered = async (databaseUrl: string, email: string): Promise<boolean> =>
  (await query(databaseUrl, 'SELECT FROM users WHERE email = $1', [email])).length > 0;

/** API keys need the paid plan, which cannot be bought in the demo. */
const raiseToPaid = async (databaseUrl: string, organizationId: string): Promise<void> => {
  const sql = `UPDATE organizations SET subscription_tier = 'PAID' WHERE id = $1 AND name = 'Demo'`;
  await query(databaseUrl, sql, [organizationId]);
};

async function query<Row extends object>(
  databaseUrl: string,
  sql: string,
  values: readonly string[],
): Promise<Row[]> {
  const client = new Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
    application_name: 'drawbridge-launcher',
  });
  await client.connect();
  try {
    return (await client.query<Row>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}
