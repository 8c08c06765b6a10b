import type { Schemas } from '../../api';
import { Form, Picker, TextField } from '../../ui';
import styles from './access.module.css';
import { ownAddressFields } from './own-addresses';
import { MAX_NAMED, start } from './start';

type Resource = Schemas['ResourceDto'];

interface StartProps {
  readonly me: Schemas['MeDto'];
  /** that this person may open, and that work */
  readonly resources: readonly Resource[];
  /** the address of this person is let in already: only another one is left to let in */
  readonly isIn: boolean;
  readonly onStarted: (id: string) => void;
}

/** Lets this person in, with one click: to everything, for as long as usual. Or another address. */
export function StartForm({ isIn, ...given }: StartProps) {
  const { requireDetectedAddress } = given.me.organization;
  if (!isIn) return <Start {...given} other={requireDetectedAddress ? null : <OptionalAddress />} />;
  if (requireDetectedAddress) return null;
  return (
    <details>
      <summary>Let in another address</summary>
      <Start {...given} isForOther other={<OtherAddress />} />
    </details>
  );
}

interface FormProps extends Omit<StartProps, 'isIn'> {
  readonly isForOther?: boolean;
  readonly other: React.ReactNode;
}

function Start({ me, resources, onStarted, isForOther = false, other }: FormProps) {
  const limits = resources.map(({ maxSessionDurationHours: hours }) => hours ?? me.defaultSessionHours);
  const least = Math.min(...limits);
  const most = Math.max(...limits);
  return (
    <Form
      submit={isForOther ? 'Let it in' : 'Let me in'}
      submitFirst={!isForOther}
      busy="Opening…"
      alias={{ ipv4Address: 'address', ipv6Address: 'address' }}
      send={async (entered) => {
        const chosen = entered.all('resourceIds');
        const typed = entered.optional('address');
        const isAll = chosen.length === resources.length || chosen.length > MAX_NAMED;
        const body = {
          durationHours: entered.number('durationHours'),
          ...(isAll ? {} : { resourceIds: chosen }),
          ...(typed ? typedField(typed) : await ownAddressFields(me.organization.requireDetectedAddress)),
        };
        await start(body, onStarted);
      }}
    >
      <div className={styles['options']}>
        <TextField
          name="durationHours"
          label="Hours"
          type="number"
          min={1}
          max={most}
          defaultValue={Math.min(me.defaultSessionHours, least)}
          help={least === most ? `At most ${most}.` : `At most ${least} with all of them.`}
        />
        <Picker
          key={resources.map(({ id }) => id).join()}
          name="resourceIds"
          label="Resources"
          chosen={resources.map(({ id }) => id)}
          choices={resources.map((resource) => ({
            value: resource.id,
            text: resource.name,
            detail: detailOf(resource, least !== most),
          }))}
        />
      </div>
      {other}
    </Form>
  );
}

const OptionalAddress = () => (
  <details>
    <summary>Let in another address</summary>
    <OtherAddress required={false} />
  </details>
);

const OtherAddress = ({ required = true }: { readonly required?: boolean }) => (
  <TextField
    name="address"
    label="Address"
    required={required}
    help="IPv4 or IPv6, of another device or place."
  />
);

const typedField = (address: string): Pick<Schemas['StartSessionDto'], 'ipv4Address' | 'ipv6Address'> =>
  address.includes(':') ? { ipv6Address: address } : { ipv4Address: address };

function detailOf({ endpoint, maxSessionDurationHours: hours }: Resource, isLimitShown: boolean): string {
  const limit = isLimitShown && hours !== undefined ? `at most ${hours} h` : null;
  return [endpoint, limit].filter((text) => text !== null).join(', ');
}
