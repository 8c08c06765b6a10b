import { $api, api, type Schemas } from '../../api';
import { ChoiceField } from '../../parts/choosing';
import { Collection, nameColumn } from '../../parts/collection';
import { useEdit } from '../../parts/edits';
import { WORKING } from '../../parts/filters';
import { ButtonLink, CheckField, Copyable, Empty, Form, Loaded, Section, type Column } from '../../ui';
import type { Entered } from '../../ui';
import { ProviderStatus } from './identity-provider';

const COLUMNS: readonly Column<Schemas['IdentityProviderDto']>[] = [
  nameColumn('/organization/providers/$id'),
  { head: 'Issuer', cell: ({ issuer }) => issuer },
  { head: 'Status', cell: (provider) => <ProviderStatus of={provider} /> },
];

const ADMINISTRATORS = { isService: false, isActive: true, isOrgAdmin: true };

/** How people sign in with their company: by which providers, where, and whether they must. */
export function CompanySignIn() {
  const organization = $api.useQuery('get', '/api/v1/organization');
  return (
    <>
      <Section
        title="Identity providers"
        actions={<ButtonLink to="/organization/providers/new">Add a provider</ButtonLink>}
      >
        <Collection
          caption="Identity providers"
          path="/api/v1/identity-providers"
          columns={COLUMNS}
          search="name, issuer"
          filters={[WORKING]}
          sort="name"
          empty={
            <Empty title="People sign in with a password of this service">
              With a provider they use their account at your company, and who leaves it is out within 15
              minutes. Microsoft Entra ID, Google, Okta, Keycloak: whatever speaks OpenID Connect.
            </Empty>
          }
        />
      </Section>
      <Loaded query={organization}>
        {(data) => (
          <>
            <Section title="Where people sign in">
              <p>
                “Sign in with your company” on the sign-in screen asks for the organization. This address has
                it already:
              </p>
              <Copyable
                label="Address"
                text={`${location.origin}/sign-in/company?organization=${data.slug}`}
              />
            </Section>
            <Section title="Require company sign-in">
              <Requirement now={data} />
            </Section>
          </>
        )}
      </Loaded>
    </>
  );
}

/** Whether passwords still sign in, and who gets in while the provider is away. */
function Requirement({ now }: { now: Schemas['OrganizationDto'] }) {
  const edit = useEdit(now, () => api.GET('/api/v1/organization'));
  const send = (entered: Entered): Promise<unknown> => {
    const recoveryAdministratorId = entered.optional('recoveryAdministratorId') ?? null;
    const form = { ssoRequired: entered.checked('ssoRequired'), recoveryAdministratorId };
    return edit(form, (body) => api.PATCH('/api/v1/organization', { body }));
  };
  return (
    <Form submit="Save" done="Saved." send={send}>
      <CheckField
        name="ssoRequired"
        label="Everybody signs in with the company"
        help="Sign-ins with a password end at once, and no password counts but the recovery administrator’s. API keys, service users and jobs go on. Sign in with the company yourself first."
        defaultChecked={now.ssoRequired}
      />
      <ChoiceField
        from="/api/v1/users"
        query={ADMINISTRATORS}
        name="recoveryAdministratorId"
        label="Recovery administrator"
        required={false}
        none="None"
        defaultValue={now.recoveryAdministratorId ?? ''}
        help="Gets in with a password and a second factor when the provider does not answer, and keeps both, and the rights, as long as company sign-in is required."
      />
    </Form>
  );
}
