import { Link, useNavigate } from '@tanstack/react-router';
import { api, useList } from '../../api';
import { Effects } from '../../parts/effects';
import { addressesOf } from '../../parts/sessions';
import { count, Some } from '../../parts/words';
import { providerOf, type ProviderTypes, type Resource } from '../../parts/types';
import { Action, CheckField, Code, ConfirmButton, Loaded, localTime, Muted, Row } from '../../ui';
import { Section, TextArea } from '../../ui';
import { ResourceForm } from './resource-form';

/** What can be changed of a resource, and its end. */
export function ResourceSettings({ of, types }: { of: Resource; types: readonly ProviderTypes[] }) {
  const { id, name, isActive, resourceIdentifier } = of;
  const params = { path: { id } };
  const navigate = useNavigate();
  return (
    <>
      <Section title="Settings">
        <Muted>Rules that are open follow a new target, other ports or another credential.</Muted>
        <ResourceForm types={types} of={{ resource: of }} />
      </Section>
      <Section title="Pause, delete or abandon">
        <Muted>
          Paused, it takes no new session. Abandon it when its target is gone for good, or out of reach.
        </Muted>
        <Row>
          <Action
            label={isActive ? 'Pause' : 'Let new sessions use it'}
            act={() => api.PATCH('/api/v1/resources/{id}', { params, body: { isActive: !isActive } })}
          />
          <ConfirmButton
            label="Delete"
            title={`Delete the resource ${name}?`}
            confirm="Delete resource"
            ends={{}}
            act={(entered, signal) => {
              const query = entered.checked('releasePorts') ? { releasePorts: true } : {};
              return api.DELETE('/api/v1/resources/{id}', { params: { ...params, query }, signal });
            }}
            onDone={() => navigate({ to: '/resources' })}
          >
            <Effects method="delete" path="/api/v1/resources/{id}" id={id} />
            <WhatCloses id={id} />
            <p>
              It leaves all roles, and its static IP rules are removed from <Code>{resourceIdentifier}</Code>.
            </p>
            {providerOf(types, of).needsAgent ? (
              <CheckField name="releasePorts" label="Open its ports: the host guards them no more" />
            ) : null}
          </ConfirmButton>
          <ConfirmButton
            label="Abandon"
            title={`Abandon the resource ${name}?`}
            confirm="Abandon resource"
            act={(entered) => {
              const body = { reason: entered.text('reason') };
              return api.POST('/api/v1/resources/{id}/abandon', { params, body });
            }}
          >
            <WhatCloses id={id} />
            <p>
              Its rules on <Code>{resourceIdentifier}</Code> are given up, not removed: what they let in stays
              in.
            </p>
            <TextArea name="reason" label="Why" help="Kept in the audit trail." maxLength={500} />
          </ConfirmButton>
        </Row>
      </Section>
    </>
  );
}

/** The sessions that are open on a resource. */
function WhatCloses({ id }: { id: string }) {
  const sessions = useList('/api/v1/sessions/admin', { query: { resourceId: id, active: true, size: 5 } });
  return (
    <Loaded query={sessions}>
      {({ items, total }) => (
        <div>
          <Link to="/open" search={{ resourceId: id }}>
            {count(total, 'open session')}
          </Link>
          <Some
            of={items.map(
              (each) =>
                `${each.userName}, ${addressesOf(each).join(' and ')}, until ${localTime(each.expiresAt)}`,
            )}
            total={total}
          />
        </div>
      )}
    </Loaded>
  );
}
