import { Link } from '@tanstack/react-router';
import { api, asFailure, serverNow, useList, type List } from '../../api';
import {
  askedFrom,
  isWaiting,
  namesOf,
  RequestStatus,
  type AccessRequest,
} from '../../parts/access-requests';
import { openedBeside } from '../../parts/session-actions';
import { DialogButton, Form, Notice, Picker, Row, Section, TextField, unbroken } from '../../ui';
import { addressesIn, ownAddressFields, useOwnAddresses } from './own-address';
import type { Resource, StartProps } from './starting';

const MINE = { query: { view: 'mine', size: 20 } };
const isAnyWaiting = ({ items }: List<AccessRequest>): boolean => items.some(isWaiting);

const HOUR_MS = 3_600_000;

const isOfInterest = ({ status, endedAt }: AccessRequest): boolean =>
  status === 'WAITING' ||
  status === 'APPROVED' ||
  (status === 'DENIED' && endedAt !== null && Date.parse(endedAt) > serverNow() - HOUR_MS);

/** What this person has asked for and not opened yet, and what was denied just now. */
export function OwnRequests() {
  const { data } = useList('/api/v1/access-requests', MINE, { isUnsettled: isAnyWaiting });
  const shown = (data?.items ?? []).filter(isOfInterest);
  if (shown.length === 0) return null;
  return (
    <Section title="Your requests">
      {shown.map((request) => (
        <Row key={request.id}>
          <span role="status">
            <RequestStatus of={request} />
          </span>
          <Link to="/requests/$id" params={{ id: request.id }}>
            {namesOf(request)} from {unbroken(askedFrom(request))}
          </Link>
        </Row>
      ))}
    </Section>
  );
}

/** The fields `reason` and `ticket`. @param of those that need a reason; null: all that are chosen do */
export const Grounds = ({ of }: { readonly of: readonly Resource[] | null }) => (
  <>
    <TextField
      name="reason"
      label="Reason"
      required={of === null}
      maxLength={500}
      help={
        of === null ? 'Recorded with the access.' : `Needed for ${of.map(({ name }) => name).join(', ')}.`
      }
    />
    <TextField
      name="ticket"
      label="Ticket"
      required={false}
      maxLength={100}
      help="Where it is recorded elsewhere."
    />
  </>
);

/** Access without the approval that it needs, where a role allows that. */
export function BreakGlass({ me, resources, onStarted }: StartProps) {
  const { data: own } = useOwnAddresses();
  const possible = resources.filter((each) => each.approvalsNeeded && each.mayBreakGlass);
  if (possible.length === 0) return null;
  const ids = possible.map(({ id }) => id);
  return (
    <p>
      <DialogButton label="Break glass…" kind="danger" title="Open access without approval?">
        {(close) => (
          <Form
            submit="Open without approval"
            submitKind="danger"
            busy="Opening…"
            onCancel={close}
            onDone={close}
            send={async (entered) => {
              const address = await ownAddressFields(me);
              const resourceIds = entered.all('resourceIds');
              const reason = entered.text('reason');
              const ticket = entered.optional('ticket');
              const grounds = { reason, ...(ticket === undefined ? {} : { ticket }) };
              const body = { breakGlass: true, resourceIds, ...grounds, ...address };
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
              For an emergency in which nobody can approve in time. It opens at once
              {unbroken(own ? ` for ${addressesIn(own).join(' and ')}` : '')}, for an hour at most, and cannot
              be extended. All administrators are told immediately that it was you, and why. Another
              administrator reviews it afterwards; until then it stays on their list.
            </p>
            {me.mfaEnabled ? null : (
              <Notice tone="warn">
                It needs a second factor: <Link to="/account">set one up</Link> first.
              </Notice>
            )}
            <Picker
              name="resourceIds"
              label="Resources"
              chosen={ids}
              choices={possible.map(({ id, name, endpoint }) => ({
                value: id,
                text: name,
                detail: endpoint,
              }))}
            />
            <Grounds of={null} />
            <TextField
              name="code"
              label="Code of your second factor"
              autoComplete="one-time-code"
              help="Of your authenticator, or a recovery code."
            />
          </Form>
        )}
      </DialogButton>
    </p>
  );
}
