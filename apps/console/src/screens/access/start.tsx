import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, asFailure, Failure } from '../../api';
import { opened } from '../../parts/session-actions';
import { addressesOf, resourcesOf, type Session } from '../../parts/sessions';
import { Action, Form, Notice, Picker, Row, TextField, unbroken } from '../../ui';
import styles from './access.module.css';
import { Grounds } from './asking';
import { ownAddressFields } from './own-address';
import type { Body, Resource, StartProps } from './starting';

/** A request may name so many resources. It names none to mean all. */
const MAX_NAMED = 100;

function resourceFields(ids: string[], resources: readonly Resource[]): Pick<Body, 'resourceIds'> {
  // by name: what was assigned since, or is not on the form, is not part of it
  if (ids.length <= MAX_NAMED) return { resourceIds: ids };
  if (resources.every(({ id }) => ids.includes(id))) return {};
  const message = `A session opens at most ${MAX_NAMED} chosen resources, or all of yours; these are ${ids.length}.`;
  throw new Failure(message, 0, 'TOO_MANY_RESOURCES');
}

/** A session of this person lets in where it was before: it can follow, and keeps its end. */
export function Moved({ me, resources, onStarted, session }: StartProps & { readonly session: Session }) {
  const move = async (): Promise<void> => {
    const ids = resourcesOf(session).map(({ id }) => id);
    const { reason, ticket } = session;
    const grounds = { ...(reason === null ? {} : { reason }), ...(ticket === null ? {} : { ticket }) };
    const fields = { ...resourceFields(ids, resources), ...grounds, ...(await ownAddressFields(me)) };
    await opened({ replaces: session.id, ...fields }, onStarted);
  };
  return (
    <Notice tone="warn">
      <Row>
        <p>
          <strong>Moved?</strong> Your session lets in {unbroken(addressesOf(session).join(' and '))}. It can
          let in where you are now instead, until the same time.
        </p>
        <Action label="Let me in here" kind="primary" large busy="Opening…" act={move} />
      </Row>
    </Notice>
  );
}

/**
 * Lets this person in, with one click: to everything, for as long as usual. Or another address.
 * @param isIn the own address is let in already: only another one is left
 */
export function StartForm({ me, resources, onStarted, isIn }: StartProps & { readonly isIn: boolean }) {
  const { requireDetectedAddress } = me.organization;
  const [isReasonAsked, setReasonAsked] = useState(false);
  const navigate = useNavigate();
  if (isIn && requireDetectedAddress) return null;
  const limits = resources.map(({ maxSessionDurationHours: hours }) => hours ?? me.defaultSessionHours);
  const atMost = Math.min(...limits);
  const explained = resources.filter(({ needsReason }) => needsReason);
  const approved = resources.filter(({ approvalsNeeded }) => approvalsNeeded);
  // what needs nobody else does not wait for what does
  const free = resources.filter((each) => !approved.includes(each));
  const ids = (free.length > 0 ? free : resources).map(({ id }) => id);
  const hasGrounds = explained.length > 0 || isReasonAsked;
  const areAll = approved.length === resources.length;
  const other = (
    <TextField name="address" label="Address" required={isIn} help="Of another device or place." />
  );
  const form = (
    <Form
      submit={areAll ? 'Ask for access' : isIn ? 'Let it in' : 'Let me in'}
      submitFirst={!isIn && !hasGrounds}
      busy={areAll ? 'Asking…' : 'Opening…'}
      alias={{ ipv4Address: 'address', ipv6Address: 'address' }}
      send={async (entered) => {
        const typed = entered.optional('address');
        const chosen = entered.all('resourceIds');
        const [reason, ticket] = [entered.text('reason'), entered.optional('ticket')];
        const body = {
          durationHours: entered.number('durationHours'),
          ...resourceFields(chosen, resources),
          ...(typed ? typedField(typed) : await ownAddressFields(me)),
          ...(ticket ? { ticket } : {}),
        };
        if (approved.some(({ id }) => chosen.includes(id))) {
          const { data } = await api.POST('/api/v1/access-requests', { body: { ...body, reason } });
          return navigate({ to: '/requests/$id', params: { id: data!.id } });
        }
        await opened({ ...body, ...(reason ? { reason } : {}) }, onStarted).catch((error: unknown) => {
          if (asFailure(error).fields['reason']) setReasonAsked(true);
          throw error;
        });
      }}
    >
      <div className={styles['options']}>
        <TextField
          name="durationHours"
          label="Hours"
          type="number"
          min={1}
          defaultValue={Math.min(me.defaultSessionHours, atMost)}
          help={`At most ${atMost}.`}
        />
        <Picker
          key={ids.join()}
          name="resourceIds"
          label="Resources"
          chosen={ids}
          choices={resources.map(({ id, name, endpoint, approvalsNeeded }) => ({
            value: id,
            text: name,
            detail: [endpoint, approvalsNeeded ? 'needs approval' : null].filter(Boolean).join(' · '),
          }))}
        />
      </div>
      {hasGrounds ? (
        <Grounds of={explained.length === resources.length || isReasonAsked ? null : explained} />
      ) : null}
      {requireDetectedAddress ? null : isIn ? other : inDetails(other)}
    </Form>
  );
  return isIn ? inDetails(form) : form;
}

const inDetails = (content: ReactNode): ReactNode => (
  <details>
    <summary>Let in another address</summary>
    {content}
  </details>
);

const typedField = (address: string): Pick<Body, 'ipv4Address' | 'ipv6Address'> =>
  address.includes(':') ? { ipv6Address: address } : { ipv4Address: address };
