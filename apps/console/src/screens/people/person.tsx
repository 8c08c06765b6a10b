import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, asFailure, useList, type Schemas } from '../../api';
import { Collection } from '../../parts/collection';
import { Effects } from '../../parts/effects';
import { LockdownActions } from '../../parts/lockdown';
import { sessionsOf } from '../../parts/session-table';
import { Action, ButtonLink, CodeField, ConfirmButton, Copyable, Empty, Facts, TabLinks } from '../../ui';
import { Form, Loaded, Notice, Page, Row, Section, Time } from '../../ui';
import type { Entered } from '../../ui';
import { Ends } from './ends';
import { PASS_ON } from './invite';
import { Keys } from './keys';
import { RolePicker, UserStatus, type User } from './parts';
import { PersonResources } from './person-resources';

const route = getRouteApi('/signed-in/administrator/people/$id');

const NOTHING = <Empty title="Nothing is open" />;

const TABS = [
  ['Account', undefined],
  ['May open', 'resources'],
] as const;

/** One person, or one service user. */
export function Person() {
  const { id } = route.useParams();
  const { tab } = route.useSearch();
  const user = $api.useQuery('get', '/api/v1/users/{id}', { params: { path: { id } } });
  const roles = useList('/api/v1/roles', { query: { userId: id, withMembers: false } });
  const create = (
    <ButtonLink to="/automation/keys/new" search={{ userId: id }}>
      Create a key
    </ButtonLink>
  );
  return (
    <Loaded query={user}>
      {(data) => (
        <Page
          key={id}
          title={data.name}
          lead={data.isService ? 'A service user: programs act as it.' : data.email}
          actions={
            <>
              <ButtonLink to="/report" search={{ userId: id }}>
                Access report
              </ButtonLink>
              <ButtonLink to="/audit" search={{ actorEmail: data.email }}>
                Audit trail
              </ButtonLink>
            </>
          }
        >
          <TabLinks label="Parts of the account" tabs={TABS} />
          {tab === 'resources' ? (
            <PersonResources id={id} />
          ) : (
            <>
              <Section title="Account" actions={<Actions user={data} />}>
                <Facts of={factsOf(data)} />
                <SignInHelp user={data} />
              </Section>
              <Section
                title="Open now"
                actions={
                  <Link to="/open" search={{ tab: 'all', userId: id }}>
                    All sessions
                  </Link>
                }
              >
                <Collection
                  isBeside
                  caption="Open sessions"
                  path="/api/v1/sessions/admin"
                  query={{ userId: id, active: true }}
                  {...sessionsOf('one')}
                  empty={NOTHING}
                />
              </Section>
              <Section title="Lockdown">
                <Row>
                  <LockdownActions userId={id} name={data.name} lockdown={data.lockdown} />
                </Row>
              </Section>
              <Section title="Roles">
                <Loaded query={roles}>
                  {({ items }) => <RolesForm userId={id} now={items.map((role) => role.id)} />}
                </Loaded>
              </Section>
              <Section title="API keys" actions={create}>
                <Keys userId={id} />
              </Section>
            </>
          )}
        </Page>
      )}
    </Loaded>
  );
}

const factsOf = ({ status, createdAt, ...user }: User) => ({
  Status: <UserStatus status={status} />,
  Administrator: user.isService ? null : user.isOrgAdmin ? 'yes' : 'no',
  'Signs in by': user.identityProviders.join(', ') || null,
  'Second factor': user.isService ? null : user.mfaEnabled ? 'set up' : 'none',
  'Last sign-in': user.isService ? null : <Time at={user.lastLoginAt} none="never" />,
  Invited: user.invitedAt ? <Time at={user.invitedAt} /> : null,
  Added: <Time at={createdAt} />,
});

/** For a person who cannot sign in: another invitation, a link for a new password, a new second factor. */
function SignInHelp({ user: { id, name, status, isService, mfaEnabled } }: { user: User }) {
  const [link, setLink] = useState<string | null>(null);
  const of = { params: { path: { id } } };
  const isInvited = status === 'INVITED';
  const invite = async (): Promise<void> =>
    setLink((await api.POST('/api/v1/users/{id}/resend-invitation', of)).data!.invitationUrl);
  const passwordLink = async (): Promise<void> =>
    setLink((await api.POST('/api/v1/users/{id}/password-link', of)).data!.passwordResetUrl);
  // where it could be mailed
  const [needsCode, setNeedsCode] = useState(false);
  const tryPasswordLink = (): Promise<void> =>
    passwordLink().catch((error: unknown) => {
      if (asFailure(error).code !== 'Second factor required') throw error;
      setNeedsCode(true);
    });
  if (isService || status === 'INACTIVE') return null;
  return (
    <>
      <Row>
        {isInvited ? <Action label="Resend the invitation" act={invite} /> : null}
        {isInvited ? null : (
          <ConfirmButton
            kind="normal"
            label="Get a password link"
            title={`Get a password link for ${name}?`}
            act={tryPasswordLink}
          >
            <p>
              The link sets the password of {name}. Pass it on to {name} alone.
            </p>
          </ConfirmButton>
        )}
        {isInvited ? null : (
          <ConfirmButton
            kind="normal"
            label="End the sign-ins"
            title={`End every sign-in of ${name}?`}
            ends={{}}
            act={(_, signal) => api.DELETE('/api/v1/users/{id}/sign-ins', { ...of, signal })}
          >
            <p>
              Each browser and terminal is signed out at once. What is open and API keys stay, and {name} may
              sign in again: deactivate the account to end all of that.
            </p>
          </ConfirmButton>
        )}
        {mfaEnabled ? (
          <ConfirmButton
            label="Reset the second factor"
            title={`Reset the second factor of ${name}?`}
            act={() => api.POST('/api/v1/users/{id}/reset-mfa', of)}
          >
            <p>The authenticator and the recovery codes stop working. Be sure that it is {name} who asks.</p>
          </ConfirmButton>
        ) : null}
      </Row>
      {needsCode ? (
        <Form
          submit="Get the link"
          onCancel={() => setNeedsCode(false)}
          onDone={() => setNeedsCode(false)}
          send={async (entered) => {
            await api.POST('/api/v1/auth/step-up', { body: { code: entered.code('code') } });
            await passwordLink();
          }}
        >
          <p>
            {name} can have a link mailed. To pass one on yourself, give a code of your second factor; {name}{' '}
            is notified by mail.
          </p>
          <CodeField label="Authenticator or recovery code" autoFocus />
        </Form>
      ) : null}
      {link ? (
        <>
          <Notice announced>
            {isInvited ? PASS_ON : 'Pass this link on. It works once, within an hour.'}
          </Notice>
          <Copyable text={link} label={`Link for ${name}`} />
        </>
      ) : null}
    </>
  );
}

/** Each change is a request of its own: a list has no limit then, and what others have changed meanwhile stays. */
function RolesForm({ userId, now }: { userId: string; now: readonly string[] }) {
  const [before, setBefore] = useState(now);
  const send = async (entered: Entered): Promise<void> => {
    const chosen = entered.all('roleIds');
    for (const id of new Set([...before, ...chosen])) {
      const isAdded = chosen.includes(id);
      if (isAdded === before.includes(id) || isAdded === now.includes(id)) continue;
      const of = { params: { path: { id, userId } } };
      await (isAdded
        ? api.POST('/api/v1/roles/{id}/users/{userId}', of)
        : api.DELETE('/api/v1/roles/{id}/users/{userId}', of));
    }
    setBefore(chosen);
  };
  return (
    <Form
      submit="Save the roles"
      done="Saved. It counts for new sessions; what is open continues until it ends."
      send={send}
    >
      <RolePicker chosen={now} />
    </Form>
  );
}

function Actions({ user }: { user: User }) {
  const { id, name, isActive, isOrgAdmin, isService } = user;
  const navigate = useNavigate();
  const params = { path: { id } };
  const rights = isOrgAdmin ? 'Remove administrator rights' : 'Make administrator';
  const change = (body: Schemas['UpdateUserDto'], signal: AbortSignal | null = null): Promise<unknown> =>
    api.PATCH('/api/v1/users/{id}', { params, body, signal });
  return (
    <Row>
      {isService ? null : (
        <ConfirmButton
          kind="normal"
          label={rights}
          title={`${rights}: ${name}?`}
          act={() => change({ isOrgAdmin: !isOrgAdmin })}
        >
          <p>Administrators manage people, roles, resources and everything else here.</p>
        </ConfirmButton>
      )}
      {isActive ? (
        <ConfirmButton
          label="Deactivate"
          title={`Deactivate ${name}?`}
          ends={{}}
          act={(_, signal) => change({ isActive: false }, signal)}
        >
          <Effects method="patch" path="/api/v1/users/{id}" id={id} body={{ isActive: false }} />
          <Ends userId={id} />
          <Stay />
        </ConfirmButton>
      ) : (
        <Action label="Reactivate" act={() => change({ isActive: true })} />
      )}
      <ConfirmButton
        label="Delete"
        title={`Delete ${name}?`}
        ends={{}}
        act={(_, signal) => api.DELETE('/api/v1/users/{id}', { params, signal })}
        onDone={() => navigate({ to: isService ? '/automation' : '/people' })}
      >
        <Effects method="delete" path="/api/v1/users/{id}" id={id} />
        <Ends userId={id} />
        <Stay />
      </ConfirmButton>
    </Row>
  );
}

const Stay = () => (
  <p>
    <strong>Not closed:</strong> <Link to="/static-rules">static IP rules</Link> that this person made.
  </p>
);
