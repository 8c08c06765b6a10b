import { useState } from 'react';
import { api, type Schemas } from '../api';
import { CheckField, ConfirmButton, localTime, TextField } from '../ui';
import { Effects } from './effects';
import { count } from './words';

type Lockdown = Schemas['LockdownDto'];

interface SubjectProps {
  /** of the user; null: the organization */
  readonly userId: string | null;
  readonly name: string;
  readonly lockdown: Lockdown | null;
}

/** The button that declares a lockdown, or what there is of one and the button that lifts it. */
export function LockdownActions({ userId, name, lockdown }: SubjectProps) {
  const params = { path: { id: userId ?? '' } };
  const [staticRules, setStaticRules] = useState(false);
  if (lockdown)
    return (
      <>
        <p>
          Locked down by {lockdown.declaredBy} since {localTime(lockdown.declaredAt)}: {lockdown.reason}
          {lockdown.staticRules ? '. Static IP rules are closed, too.' : ''}
        </p>
        <ConfirmButton
          label="Lift the lockdown"
          kind="normal"
          title={`Lift the lockdown of ${name}?`}
          act={() =>
            userId === null
              ? api.DELETE('/api/v1/organization/lockdown')
              : api.DELETE('/api/v1/users/{id}/lockdown', { params })
          }
        >
          <p>
            Access can be opened again. Sessions that it ended stay ended
            {lockdown.staticRules ? '; static IP rules open again' : ''}.
          </p>
        </ConfirmButton>
      </>
    );
  return (
    <ConfirmButton
      label="Lock down"
      title={`Lock down ${name}?`}
      ends={{}}
      act={(entered, signal) => {
        const reason = entered.text('reason');
        const body = { reason, staticRules: entered.checked('staticRules') };
        return userId === null
          ? api.POST('/api/v1/organization/lockdown', { body, signal })
          : api.POST('/api/v1/users/{id}/lockdown', { params, body: { reason }, signal });
      }}
      announcement={(answer) => {
        const { sessions = 0, staticIpRules = 0 } = answer?.data ?? {};
        const rules = staticIpRules > 0 ? ` and ${count(staticIpRules, 'static IP rule')}` : '';
        return `Locked down: ${name}. This ended ${count(sessions, 'session')}${rules}.`;
      }}
    >
      <Effects
        method="post"
        path={userId === null ? '/api/v1/organization/lockdown' : '/api/v1/users/{id}/lockdown'}
        id={userId}
        // whatever the reason will be
        body={{ reason: '-', ...(userId === null ? { staticRules } : {}) }}
      />
      <p>
        No session of {name} can be started or extended until the lockdown is lifted. Another administrator
        has to do that, where there is one.
      </p>
      <TextField
        name="reason"
        label="Reason"
        maxLength={500}
        help="It is shown to everybody who is refused."
      />
      {userId === null ? (
        <CheckField
          name="staticRules"
          label="Close static IP rules, too"
          help="They open again when the lockdown is lifted."
          checked={staticRules}
          onChange={({ target }) => setStaticRules(target.checked)}
        />
      ) : null}
    </ConfirmButton>
  );
}
