import { Link, useNavigate } from '@tanstack/react-router';
import { api, useAll, useList, type Schemas } from '../../api';
import {
  Action,
  CheckField,
  ConfirmButton,
  DialogButton,
  Form,
  Loaded,
  Muted,
  Notice,
  Row,
  Section,
  TextArea,
  Time,
} from '../../ui';
import { ResourceForm } from './resource-form';
import { providerOf, type ProviderTypes } from './types';

type Resource = Schemas['ResourceDto'];
type OfResource = { readonly of: Resource };

/** What can be changed of a resource, and its end. */
export function ResourceSettings({ of, types }: OfResource & { readonly types: readonly ProviderTypes[] }) {
  const credentials = useAll('/api/v1/credentials');
  return (
    <>
      <Section title="Settings">
        <Muted>Rules that are open follow a new target, other ports or another credential.</Muted>
        <Loaded query={credentials}>
          {(all) => <ResourceForm types={types} credentials={all} resource={of} submit="Save" />}
        </Loaded>
      </Section>
      <Section title="New sessions">
        <Row>
          <Muted>
            {of.isActive
              ? 'New sessions may use it. Paused, it serves those that are open, and no new one.'
              : 'No new session may use it. Those that are open continue.'}
          </Muted>
          <Action
            label={of.isActive ? 'Pause' : 'Let new sessions use it'}
            act={() =>
              api.PATCH('/api/v1/resources/{id}', {
                params: { path: { id: of.id } },
                body: { isActive: !of.isActive },
              })
            }
          />
        </Row>
      </Section>
      <Section title="Delete or abandon">
        <Muted>
          Delete it when nobody needs access any more. Abandon it when its target is gone for good, or out of
          reach, and its rules cannot be removed.
        </Muted>
        <Row>
          <Delete of={of} needsAgent={providerOf(types, of)?.needsAgent ?? false} />
          <Abandon of={of} />
        </Row>
      </Section>
    </>
  );
}

function Delete({ of, needsAgent }: OfResource & { readonly needsAgent: boolean }) {
  const navigate = useNavigate();
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete the resource ${of.name}?`}
      confirm="Delete resource"
      act={(entered) => {
        const query = entered.checked('releasePorts') ? { releasePorts: true } : {};
        return api.DELETE('/api/v1/resources/{id}', { params: { path: { id: of.id }, query } });
      }}
      onDone={() => void navigate({ to: '/resources' })}
    >
      <WhatCloses of={of} />
      <p>It leaves all roles, and its static IP rules are removed from {of.resourceIdentifier}.</p>
      {needsAgent ? (
        <CheckField
          name="releasePorts"
          label="Stop guarding its ports"
          help="Otherwise the host keeps them closed."
        />
      ) : null}
    </ConfirmButton>
  );
}

function Abandon({ of }: OfResource) {
  return (
    <DialogButton label="Abandon" kind="danger" title={`Abandon the resource ${of.name}?`}>
      {(close) => (
        <Form
          submit="Abandon resource"
          submitKind="danger"
          onCancel={close}
          onDone={close}
          send={(entered) =>
            api.POST('/api/v1/resources/{id}/abandon', {
              params: { path: { id: of.id } },
              body: { reason: entered.text('reason') },
            })
          }
        >
          <WhatCloses of={of} />
          <p>
            Its rules on {of.resourceIdentifier} are given up, not removed: whoever they let in stays in,
            should the target still exist.
          </p>
          <TextArea name="reason" label="Why" help="Kept in the audit trail." maxLength={500} />
        </Form>
      )}
    </DialogButton>
  );
}

/** The sessions that are open on a resource. */
function WhatCloses({ of: { id } }: OfResource) {
  const sessions = useList('/api/v1/sessions/admin', { query: { resourceId: id, active: true, size: 10 } });
  return (
    <Loaded query={sessions}>
      {({ items, total }) =>
        total === 0 ? (
          <p>No session is open on it.</p>
        ) : (
          <Notice tone="warn">
            <p>
              {total} open {total === 1 ? 'session uses' : 'sessions use'} it:
            </p>
            <ul>
              {items.map((session) => (
                <li key={session.id}>
                  {session.userName}, {session.ipv4Address ?? session.ipv6Address}, until{' '}
                  <Time at={session.expiresAt} />
                </li>
              ))}
            </ul>
            {total > items.length ? <p>… and {total - items.length} more</p> : null}
            <Link to="/open" search={{ resourceId: id }}>
              See who is in, and stop them
            </Link>
          </Notice>
        )
      }
    </Loaded>
  );
}
