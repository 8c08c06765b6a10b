import { $api, api, asFailure, type Schemas } from '../../api';
import { Form, Loading, Problem, TextField, type Entered } from '../../ui';

type Details = Schemas['BillingDetailsDto'];

/** Fields, their labels, whether an invoice needs them, and what a browser fills in. */
const FIELDS: readonly (readonly [keyof Details, label: string, isNeeded: boolean, autoComplete: string])[] =
  [
    ['companyName', 'Company', true, 'organization'],
    ['billingContactName', 'Contact', false, 'name'],
    ['billingEmail', 'E-mail for invoices', true, 'email'],
    ['billingAddressLine1', 'Address', true, 'address-line1'],
    ['billingAddressLine2', 'Address, second line', false, 'address-line2'],
    ['billingPostalCode', 'Postal code', true, 'postal-code'],
    ['billingCity', 'City', true, 'address-level2'],
    ['billingState', 'State', false, 'address-level1'],
    ['billingCountry', 'Country', true, 'country'],
    ['vatNumber', 'VAT number', false, 'off'],
  ];

/** To whom invoices go. A subscription needs it. */
export function BillingDetails() {
  const query = $api.useQuery('get', '/api/v1/organization/billing', {}, { refetchInterval: false });
  const error: unknown = query.error;
  // until they are set, the API says that there are none
  if (error && asFailure(error).status !== 404) return <Problem error={error} />;
  if (query.data === undefined && !error) return <Loading />;
  return (
    <Form submit="Save the billing details" done="Saved." send={save}>
      {FIELDS.map(([name, label, isNeeded, autoComplete]) => (
        <TextField
          key={name}
          name={name}
          label={label}
          required={isNeeded}
          autoComplete={autoComplete}
          type={name === 'billingEmail' ? 'email' : 'text'}
          maxLength={200}
          defaultValue={query.data?.[name] ?? ''}
        />
      ))}
    </Form>
  );
}

function save(entered: Entered): Promise<unknown> {
  // an emptied field is deleted
  const body = Object.fromEntries(FIELDS.map(([name]) => [name, entered.optional(name) ?? null]));
  return api.PATCH('/api/v1/organization/billing', { body });
}
