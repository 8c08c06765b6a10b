import type { ApiClient } from '../../harness/product/api-client';
import type { Drawbridge } from '../../harness/product/drawbridge';
import { SignInIssuer, type IssuerPerson } from '../../harness/issuers/sign-in-issuer';
import { until } from '../../harness/until';
import { CompanySignIn, identityProvider, person, type SignedIn } from './company-sign-in';
import { organization, type Organization } from '../accounts/organization';

/** An organization whose groups give roles, and its issuer. */
export interface Company {
  readonly org: Organization;
  readonly issuer: SignInIssuer;
  readonly signIn: CompanySignIn;
  readonly providerId: string;
}

/** A person of the group operations who has access. */
export interface Insider {
  readonly who: IssuerPerson;
  readonly signedIn: SignedIn;
  readonly client: ApiClient;
  readonly sessionId: string;
  readonly address: string;
}

/** Companies with people who have access, and what becomes of it. Their issuers stop after the tests of a file. */
export function insiders(drawbridge: Drawbridge) {
  const issuers: SignInIssuer[] = [];
  let addresses = 0;
  afterAll(() => Promise.all(issuers.map((issuer) => issuer.stop())));

  async function company(): Promise<Company> {
    const issuer = await SignInIssuer.start();
    issuers.push(issuer);
    const org = await organization(drawbridge);
    const { id: providerId } = await identityProvider(org, issuer, {
      createUsers: true,
      groupsClaim: 'groups',
      groupMappings: [
        { group: 'operations', roleId: org.roleId },
        { group: 'admins', isOrgAdmin: true },
      ],
    });
    return { org, issuer, signIn: await CompanySignIn.of(org), providerId };
  }

  const as = ({ accessToken }: SignedIn): ApiClient => drawbridge.api.as({ token: accessToken! });

  /** Somebody of the group operations who has access. */
  async function insider({ org, issuer, signIn }: Company): Promise<Insider> {
    const who = person({ groups: ['operations'] });
    const signedIn = await signIn.signedIn(issuer, who);
    const address = `203.0.113.${(addresses += 1)}`;
    const client = as(signedIn);
    const { id } = await client.posted<{ id: string }>('/sessions', { ipv4Address: address });
    await org.reaches(id, 'ACTIVE');
    return { who, signedIn, client, sessionId: id, address };
  }

  const isOpen = async (address: string): Promise<boolean> =>
    (await drawbridge.cloud.rules()).some((rule) => rule.address === address);

  const isClosed = (address: string): Promise<boolean> =>
    until(`${address} is closed`, async () => !(await isOpen(address)));

  /** The time of the next check has come for everybody. */
  const due = ({ organizationId }: Organization): Promise<{ at: Date }[]> =>
    drawbridge.query(
      'UPDATE sso_sign_ins SET check_due_at = now() WHERE organization_id = $1 RETURNING now() AS at',
      [organizationId],
    );

  /** The same, and everybody was vouched for. */
  async function vouched(org: Organization): Promise<void> {
    const [since] = await due(org);
    const late = (): Promise<object[]> =>
      drawbridge.query('SELECT 1 FROM sso_sign_ins WHERE organization_id = $1 AND checked_at < $2', [
        org.organizationId,
        since!.at,
      ]);
    await until('everybody was vouched for', async () => (await late()).length === 0);
  }

  async function keyOf(org: Organization, { user }: SignedIn): Promise<{ id: string; key: ApiClient }> {
    const asked = { name: 'own', userId: user!.id, scopes: ['sessions:read'] };
    const { id, plainTextKey: apiKey } = await org.admin.created<{ id: string; plainTextKey: string }>(
      '/api-keys',
      asked,
    );
    return { id, key: drawbridge.api.as({ apiKey }) };
  }

  const status = async (client: ApiClient, path = '/auth/me'): Promise<number> =>
    (await client.get(path)).status;

  return { company, as, insider, isOpen, isClosed, due, vouched, keyOf, status };
}
