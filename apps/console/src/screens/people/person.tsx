import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { $api, api, useAll, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { Action, ButtonLink, ConfirmButton, Facts, Form, Loaded, Page, Row, Section, Time } from '../../ui';
import { Ends } from './ends';
import { Keys } from './keys';
import { RolePicker, UserStatus, type Role, type User } from './parts';
import { changeUsers, useChange } from './requests';
import { SessionsNow } from './sessions-now';
import { SignInHelp } from './sign-in-help';

const route = getRouteApi('/signed-in/administrator/people/$id');

/** One person, or one service user. */
export function Person() {
  const { id } = route.useParams();
  const user = $api.useQuery('get', '/api/v1/users/{id}', { params: { path: { id } } });
  return <Loaded query={user}>{(data) => <Shown key={id} user={data} />}</Loaded>;
}

function Shown({ user }: { readonly user: User }) {
  const roles = useAll('/api/v1/roles');
  const isOwn = useMe().data?.id === user.id;
  return (
    <Page title={user.name} lead={user.isService ? 'A service user: programs act as it.' : user.email}>
      <Section title="Account" actions={<Actions user={user} />}>
        <Facts
          of={{
            Status: <UserStatus status={user.status} />,
            ...(user.isService ? {} : ofPerson(user)),
            Added: <Time at={user.createdAt} />,
          }}
        />
        {isOwn ? (
          <p>
            This is you. Your password and second factor are under <Link to="/account">Account</Link>.
          </p>
        ) : (
          <SignInHelp user={user} />
        )}
      </Section>
      <Section title="Open now">
        <SessionsNow userId={user.id} name={user.name} />
      </Section>
      <Section title="Roles">
        <Loaded query={roles}>{(all) => <RolesForm userId={user.id} roles={all} />}</Loaded>
      </Section>
      <Section
        title="API keys"
        actions={
          <ButtonLink to="/automation/keys/new" search={{ userId: user.id }}>
            Create a key
          </ButtonLink>
        }
      >
        <Keys userId={user.id} />
      </Section>
    </Page>
  );
}

const ofPerson = ({ isOrgAdmin, mfaEnabled, lastLoginAt, invitedAt }: User) => ({
  Administrator: isOrgAdmin ? 'yes' : 'no',
  'Second factor': mfaEnabled ? 'set up' : 'none',
  'Last sign-in': <Time at={lastLoginAt} />,
  Invited: invitedAt ? <Time at={invitedAt} /> : null,
});

function RolesForm({ userId, roles }: { readonly userId: string; readonly roles: readonly Role[] }) {
  const now = roles.filter(({ userIds }) => userIds.includes(userId)).map(({ id }) => id);
  const [changeTo, saved] = useChange(now);
  return (
    <Form
      submit="Save the roles"
      done="Saved. It counts for new sessions; what is open continues until it ends."
      send={async (entered) => {
        const chosen = entered.all('roleIds');
        const { added, removed } = changeTo(chosen);
        for (const id of added) await changeUsers(id, { added: [userId], removed: [] });
        for (const id of removed) await changeUsers(id, { added: [], removed: [userId] });
        saved(chosen);
      }}
    >
      <RolePicker chosen={now} />
    </Form>
  );
}

function Actions({ user }: { readonly user: User }) {
  const { id, name, isActive, isOrgAdmin, isService } = user;
  const navigate = useNavigate();
  const params = { path: { id } };
  const change = (body: Schemas['UpdateUserDto']): Promise<unknown> =>
    api.PATCH('/api/v1/users/{id}', { params, body });
  return (
    <Row>
      {isService ? null : (
        <ConfirmButton
          kind="normal"
          label={isOrgAdmin ? 'Remove administrator rights' : 'Make administrator'}
          title={
            isOrgAdmin ? `Remove the administrator rights of ${name}?` : `Make ${name} an administrator?`
          }
          act={() => change({ isOrgAdmin: !isOrgAdmin })}
        >
          <p>
            {isOrgAdmin
              ? `${name} keeps the roles, and sees only their own access from then on.`
              : 'Administrators manage people, roles, resources and everything else here.'}
          </p>
        </ConfirmButton>
      )}
      {isActive ? (
        <ConfirmButton
          label="Deactivate"
          title={`Deactivate ${name}?`}
          act={() => change({ isActive: false })}
        >
          <Ends user={user} />
          <p>The roles are kept for when {name} is reactivated. Sessions and keys do not come back.</p>
        </ConfirmButton>
      ) : (
        <Action label="Reactivate" act={() => change({ isActive: true })} />
      )}
      <ConfirmButton
        label="Delete"
        title={`Delete ${name}?`}
        act={() => api.DELETE('/api/v1/users/{id}', { params })}
        onDone={() =>
          void navigate(
            isService ? { to: '/automation', search: { tab: 'service-users' } } : { to: '/people' },
          )
        }
      >
        <Ends user={user} />
        <p>This cannot be undone. The audit trail and the access report keep what {name} did.</p>
      </ConfirmButton>
    </Row>
  );
}
