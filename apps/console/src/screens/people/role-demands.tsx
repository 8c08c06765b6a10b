import type { Schemas } from '../../api';
import { ChoicePicker } from '../../parts/choosing';
import { CheckField, SelectField, TextField, type Entered } from '../../ui';

const APPROVALS = [
  ['0', 'None'],
  ['1', 'One'],
  ['2', 'Two, by different people'],
] as const;

/** What a role asks of a session before it starts. @param role left out: a new one */
export const Demands = ({ role }: { role: Schemas['RoleDto'] | undefined }) => (
  <>
    <CheckField name="requireReason" label="A reason is required" defaultChecked={role?.requireReason} />
    <TextField
      name="reasonPattern"
      label="Pattern of a reason"
      required={false}
      maxLength={200}
      defaultValue={role?.reasonPattern ?? ''}
      placeholder="INC-*"
      help="* stands for any characters. With a pattern, a reason is required. Empty: any reason will do."
    />
    <SelectField
      name="approvals"
      label="Approvals by others"
      options={APPROVALS}
      defaultValue={String(role?.approvals ?? 0)}
      help="A session starts once so many others have approved it."
    />
    <ChoicePicker
      from="/api/v1/roles"
      name="approverRoleIds"
      label="Who approves"
      help="Members of these roles. None chosen: administrators."
      chosen={role?.approverRoleIds ?? []}
    />
    <CheckField
      name="mayBreakGlass"
      label="May open without approval in an emergency"
      help="For an hour at most, with the second factor. Administrators are notified at once, and one reviews it."
      defaultChecked={role?.mayBreakGlass}
    />
    <TextField
      name="ipv6PrefixLength"
      label="IPv6 prefix that is opened"
      type="number"
      min={64}
      max={128}
      defaultValue={role?.ipv6PrefixLength ?? 128}
      help="128: the address alone. 64: its network, in which privacy addresses change."
    />
  </>
);

/** The fields of a request for them. */
export const demandsOf = (entered: Entered) => ({
  requireReason: entered.checked('requireReason') || entered.text('reasonPattern') !== '',
  reasonPattern: entered.optional('reasonPattern') ?? null,
  approvals: entered.number('approvals'),
  approverRoleIds: entered.all('approverRoleIds'),
  mayBreakGlass: entered.checked('mayBreakGlass'),
  ipv6PrefixLength: entered.number('ipv6PrefixLength'),
});
