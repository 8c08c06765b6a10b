import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, asFailure, serverNow, useList, type List } from '../../api';
import { askedFrom, isWaiting, namesOf, opensAnything, RequestStatus } from '../../parts/access-requests';
import type { AccessRequest } from '../../parts/access-requests';
import { defined } from '../../parts/search';
import { openedBeside, UseRequest } from '../../parts/session-actions';
import { RequestLink } from '../../parts/words';
import { FormButton, localTime, Notice, Row, Section, SelectField } from '../../ui';
import { CodeField, unbroken } from '../../ui';
import { addressesIn, ownAddressFields, useOwnAddresses } from './own-address';
import { Grounds, OpenForm } from './start';
import type { Resource, StartProps } from './starting';

const MINE = { query: { view: 'mine', size: 20 } };
const isAnyWaiting = ({ items }: List<AccessRequest>): boolean => items.some(isWaiting);

const HOUR_MS = 3_600_000;

const isOfInterest = ({ status, endedAt }: AccessRequest): boolean =>
  status === 'WAITING' ||
  status === 'APPROVED' ||
  (status === 'DENIED' && endedAt !== null && Date.parse(endedAt) > serverNow() - HOUR_MS);

const isApproved = ({ status }: AccessRequest): boolean => status === 'APPROVED';

/** What this person has asked for and not opened yet, the approved first, and what was denied just now. */
export function OwnRequests({ me, onStarted }: Pick<StartProps, 'me' | 'onStarted'>) {
  const { data } = useList('/api/v1/access-requests', MINE, { isUnsettled: isAnyWaiting });
  const shown = (data?.items ?? []).filter(isOfInterest);
  if (shown.length === 0) return null;
  return (
    <Section title="Your requests">
      {shown
        .toSorted((a, b) => Number(isApproved(b)) - Number(isApproved(a)))
        .map((request) => (
          <Row key={request.id}>
            <span role="status">
              <RequestStatus of={request} />
            </span>
            <RequestLink id={request.id}>
              {namesOf(request)} from {unbroken(askedFrom(request))}
            </RequestLink>
            {isApproved(request) && request.useBy !== null ? (
              <span>to be opened until {localTime(request.useBy)}</span>
            ) : null}
            {isApproved(request) && me.lockdown === null && opensAnything(request) ? (
              <UseRequest request={request} onStarted={onStarted} />
            ) : null}
          </Row>
        ))}
    </Section>
  );
}

/** What others have to approve: the form of the resource that is chosen. @param given `resources`: those that need approval, and are not open */
export function Ask({ resources, ...given }: StartProps) {
  const navigate = useNavigate();
  const [id, choose] = useState('');
  const chosen = resources.length === 1 ? resources[0] : resources.find((each) => each.id === id);
  if (resources.length === 0) return null;
  return (
    <Section title="Ask for access">
      <SelectField
        name="asked-resource"
        label="Resource"
        value={chosen?.id ?? ''}
        onChange={choose}
        options={[
          ...(resources.length === 1 ? [] : [['', 'Choose a resource'] as const]),
          ...resources.map((each) => [each.id, each.name] as const),
        ]}
        help={chosen ? chosen.endpoint : 'These need the approval of others.'}
      />
      {chosen ? (
        <>
          <OpenForm
            key={chosen.id}
            {...given}
            resources={[chosen]}
            isAsked
            submit="Ask for access"
            busy="Asking…"
            send={async ({ reason = '', ...request }) => {
              const { data } = await api.POST('/api/v1/access-requests', { body: { ...request, reason } });
              return navigate({ to: '/requests/$id', params: { id: data!.id } });
            }}
          />
          {chosen.mayBreakGlass ? (
            <details>
              <summary>In an emergency</summary>
              <BreakGlass {...given} resource={chosen} />
            </details>
          ) : null}
        </>
      ) : null}
    </Section>
  );
}

/** Access without the approval that it needs, where a role allows that. */
function BreakGlass({ me, resource, onStarted }: Omit<StartProps, 'resources'> & { resource: Resource }) {
  const { data: own } = useOwnAddresses();
  if (!me.mfaEnabled)
    return (
      <Notice>
        You may open it without approval, with a second factor: <Link to="/account">set one up</Link> first.
      </Notice>
    );
  return (
    <FormButton
      label="Break glass…"
      kind="danger"
      title={`Open ${resource.name} without approval?`}
      submit="Open without approval"
      submitKind="danger"
      busy="Opening…"
      send={async (entered) => {
        const address = await ownAddressFields(me);
        const grounds = {
          reason: entered.text('reason'),
          ...defined({ ticket: entered.optional('ticket') }),
        };
        const body = { breakGlass: true, resourceIds: [resource.id], ...grounds, ...address };
        // the code counts once: it is given when nothing else is amiss
        const start = () => openedBeside(body, 'break-glass', onStarted);
        await start().catch(async (error: unknown) => {
          if (asFailure(error).code !== 'Second factor required') throw error;
          await api.POST('/api/v1/auth/step-up', { body: { code: entered.code('code') } });
          await start();
        });
      }}
    >
      <p>
        For an emergency in which there is no time for an approval. It opens at once
        {unbroken(own ? ` for ${addressesIn(own).join(' and ')}` : '')}, for an hour at most, and cannot be
        extended. All administrators are notified immediately that it was you, and why. Another administrator
        reviews it afterwards; until then it stays on their list.
      </p>
      <Grounds of={[resource]} />
      <CodeField label="Code of your second factor" help="Of your authenticator, or a recovery code." />
    </FormButton>
  );
}
