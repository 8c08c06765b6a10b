import { api, type Schemas } from '../../api';
import { ChoiceField } from '../../parts/choosing';
import { Collection } from '../../parts/collection';
import { UserLink } from '../../parts/words';
import { Badge, ConfirmButton, Empty, FormButton, Time, unbroken } from '../../ui';

type Identity = Schemas['UserIdentityDto'];

const PEOPLE = { isService: false, isActive: true };
const PATH = '/api/v1/identity-providers/{id}/identities/{identityId}';

/** Who signed in by a provider: as which user, or waiting to be linked to one. */
export const Identities = ({ providerId }: { providerId: string }) => (
  <Collection
    caption="Identities"
    path="/api/v1/identity-providers/{id}/identities"
    of={{ id: providerId }}
    columns={[
      { head: 'At the provider', cell: (identity) => nameOf(identity) },
      { head: 'Here', cell: (identity) => <Here identity={identity} /> },
      { head: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
      { head: '', cell: (identity) => <LinkOrUnlink identity={identity} providerId={providerId} /> },
    ]}
    empty={
      <Empty title="No sign-in yet. A person who is not known here waits in this list to be linked to a user." />
    }
  />
);

function nameOf({ email, name, username, subject }: Identity): string {
  const known = [name, email, username === email ? null : username].filter((one) => one !== null);
  return known.length === 0 ? subject : `${known.join(', ')} (${subject})`;
}

const Here = ({ identity: { userId, userEmail } }: { identity: Identity }) =>
  userId === null ? (
    <Badge tone="warn">Waiting to be linked</Badge>
  ) : (
    <UserLink id={userId}>{userEmail}</UserLink>
  );

function LinkOrUnlink({ identity, providerId }: { identity: Identity; providerId: string }) {
  const params = { path: { id: providerId, identityId: identity.id } };
  const name = nameOf(identity);
  if (identity.userId !== null)
    return (
      <ConfirmButton label="Unlink" title={`Unlink ${name}?`} act={() => api.DELETE(PATH, { params })}>
        <p>
          The sign-ins of {unbroken(identity.userEmail)} by it end. The next one waits to be linked, or makes
          a new user where people of the provider’s domains need no invitation.
        </p>
      </ConfirmButton>
    );
  return (
    <FormButton
      label="Link"
      title={`Who is ${name}?`}
      submit="Link"
      send={(entered) => api.PUT(PATH, { params, body: { userId: entered.text('userId') } })}
    >
      <p>Be sure that it is the same person: {name} of the provider acts as the user that you choose.</p>
      <ChoiceField from="/api/v1/users" query={PEOPLE} name="userId" label="User" none="Choose" />
    </FormButton>
  );
}
